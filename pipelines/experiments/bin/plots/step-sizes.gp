# Iterations and seconds of 6 s of four twisted rods over the time step (Li 2020, Table 4.1).
set terminal svg size 840,320 dynamic font "sans-serif,12" background "white"
set output output
set grid lc rgb "#dddddd"

set multiplot layout 1,2
set logscale xy
set xlabel "time step, s"
set key top center
set ylabel "Newton iterations in all"
plot data index 1 using 1:2 with linespoints lc rgb "#0072b2" dt 2 pt 6 title "published", \
     data index 0 using 1:2 with linespoints lc rgb "#d55e00" pt 7 title "abut"
set key at graph 0.98, graph 0.12
set yrange [1:3000]
set ylabel "seconds in all"
plot data index 1 using 1:3 with linespoints lc rgb "#0072b2" dt 2 pt 6 title "published, wall clock of 4 cores", \
     data index 0 using 1:3 with linespoints lc rgb "#d55e00" pt 7 title "abut, processor time of one thread"
unset multiplot
