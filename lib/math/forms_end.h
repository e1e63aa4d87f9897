/* After formulas that are written once. */
#undef REAL
#undef MASK
#undef FORM
#undef NAME
#undef ALL
#undef PICK
#undef ABS
#undef LOG
#undef COFACTORS
#undef LOG1P
#undef SQRT
#undef ATAN2
#undef DIST2
#undef SUB3
#undef CROSS3
#undef DOT3
#undef PROJECT9
