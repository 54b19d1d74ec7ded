/* A library that the module needs. */
int mine_number(void);
int mine_number(void) { return 3; }
