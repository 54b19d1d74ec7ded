/* A libvulkan.so.1 that is a library and no Vulkan: NO_ENTRY lacks the one function that everything is asked of, else
 * that function knows nothing. */
int is_vulkan(void);
int is_vulkan(void) { return 0; }

#ifndef NO_ENTRY
void *vkGetInstanceProcAddr(void *instance, const char *name);
void *vkGetInstanceProcAddr(void *instance, const char *name) {
  (void)instance, (void)name;
  return 0;
}
#endif
