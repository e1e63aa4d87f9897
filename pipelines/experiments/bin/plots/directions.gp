# Iterations a step of four directions over three parameters (Li 2020, section 3.5).
set terminal svg size 840,320 dynamic font "sans-serif,12" background "white"
set output output
set grid lc rgb "#dddddd"

set multiplot layout 1,3
set style data histograms
set style histogram clustered gap 1
set style fill solid
set yrange [0:14]
set ylabel "iterations a step"
do for [k=0:2] {
    set xlabel k == 0 ? "time step" : k == 1 ? "Young's modulus, Pa" : "Poisson's ratio"
    if (k == 0) { set key top left } else { unset key }
    plot data index k using 2:xtic(1) lc rgb "#0072b2" title "newton", '' index k using 3 lc rgb "#009e73" title "lbfgs-h", \
         '' index k using 4 lc rgb "#d55e00" title "dot", '' index k using 5 lc rgb "#cc79a7" title "lbfgs-pd"
}
unset multiplot
