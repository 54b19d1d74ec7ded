/* A libcuda.so.1 that is no working driver: cuInit returns INIT, 34 unless told, as the stub of a toolkit does. Other
 * macros leave functions out or add them. */
#ifndef INIT
#define INIT 34
#endif

int is_a_fake(void);
int is_a_fake(void) { return 1; }

#ifndef NO_INIT
int cuInit(unsigned flags);
int cuInit(unsigned flags) {
  (void)flags;
  return INIT;
}
#endif

#ifdef VERSION
int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) {
  *version = VERSION;
  return 0;
}
#endif

#ifdef STUB
/* The functions by which the CUDA runtime finds all others. */
int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) {
  (void)version;
  return INIT;
}
int cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long flags, void *status);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long flags, void *status) {
  (void)symbol, (void)function, (void)version, (void)flags, (void)status;
  return INIT;
}
int cuGetProcAddress(const char *symbol, void **function, int version, unsigned long long flags);
int cuGetProcAddress(const char *symbol, void **function, int version, unsigned long long flags) {
  (void)symbol, (void)function, (void)version, (void)flags;
  return INIT;
}
int cuGetExportTable(const void **table, const void *id);
int cuGetExportTable(const void **table, const void *id) {
  (void)table, (void)id;
  return INIT;
}
#endif
