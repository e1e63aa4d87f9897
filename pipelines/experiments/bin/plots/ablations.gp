# Iterations a step with two classes of barrier and two kinds of CCD (Li 2020, appendices B and C).
set terminal svg size 840,320 dynamic font "sans-serif,12" background "white"
set output output
set grid lc rgb "#dddddd"

set style data histograms
set style histogram clustered gap 1
set style fill solid
set ylabel "Newton iterations a step"
set xtics rotate by -12
set key outside right
set yrange [0:*]
plot data using 3:xtic(1) lc rgb "#a6cee3" title "C1, published", '' using 2 lc rgb "#1f78b4" title "C1, abut", \
     '' using 5 lc rgb "#fdbf6f" title "C2, full CCD, published", '' using 4 lc rgb "#d55e00" title "C2, full CCD, abut", \
     '' using 7 lc rgb "#b2df8a" title "C2, CFL culling, published", '' using 6 lc rgb "#33a02c" title "C2, CFL culling, abut"
