/* A libvulkan.so.1 that is not Vulkan: with NO_ENTRY it lacks vkGetInstanceProcAddr, otherwise that function finds
 * nothing. */
int is_vulkan(void);
int is_vulkan(void) { return 0; }

#ifndef NO_ENTRY
void *vkGetInstanceProcAddr(void *instance, const char *name);
void *vkGetInstanceProcAddr(void *instance, const char *name) {
  (void)instance, (void)name;
  return 0;
}
#endif
