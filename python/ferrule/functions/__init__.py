"""The functions of arrays, in a file for each family, and the methods of `Array` that call them."""
