# How a dragged rod sticks and slips (Li 2020, Fig. 4.19).
set terminal svg size 840,320 dynamic font "sans-serif,12" background "white"
set output output
set grid lc rgb "#dddddd"

set xlabel "time, s"
set ylabel "moved along the floor, mm"
set key top left
plot data using 1:2 with lines lc rgb "#0072b2" lw 2 title "upper end, dragged", \
     data using 1:3 with lines lc rgb "#d55e00" lw 2 title "tip on the floor"
