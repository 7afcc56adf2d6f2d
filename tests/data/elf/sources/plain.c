/* Needs nothing; compiled for several machines. */
int plain(int number) { return number + 1; }
