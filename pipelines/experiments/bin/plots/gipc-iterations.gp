# Iterations over those of projected Hessians, against stiffness (Huang et al. 2024, Fig. 10).
set terminal svg size 840,320 dynamic font "sans-serif,12" background "white"
set output output
set grid lc rgb "#dddddd"

set logscale xy
set yrange [0.25:10]
set format x "1e%T"
set xlabel "Young's modulus, Pa"
set ylabel "iterations over those of projected IPC"
set key outside right
plot 1 lc rgb "#888888" notitle, \
     data index 0 using 1:2 with linespoints lc rgb "#0072b2" pt 7 title "Gauss-Newton IPC, abut", \
     data index 1 using 1:2 with linespoints lc rgb "#0072b2" dt 2 pt 6 title "published", \
     data index 0 using 1:3 with linespoints lc rgb "#009e73" pt 7 title "Shi and Kim, abut", \
     data index 1 using 1:3 with linespoints lc rgb "#009e73" dt 2 pt 6 title "published", \
     data index 0 using 1:4 with linespoints lc rgb "#d55e00" pt 7 title "GIPC, abut", \
     data index 1 using 1:4 with linespoints lc rgb "#d55e00" dt 2 pt 6 title "published"
