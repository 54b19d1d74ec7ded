"""The functions of arrays, one file for each family, and the methods of `Array` that call them."""
