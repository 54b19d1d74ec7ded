/* What a module could need. */
int mine_number(void);
int mine_number(void) { return 3; }
