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
