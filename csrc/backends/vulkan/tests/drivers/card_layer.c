/* A Vulkan layer that simulates a card on a software driver with one queue family and one memory type: it adds a second
 * family that only copies, and device memory that the host cannot access. Its queues work independently of each other,
 * as a card's engines do, in any order that their semaphores allow.
 *
 * VULKAN_CARD_QUEUES is "1 2", the default, for one computing queue and two copying queues.
 * VULKAN_CARD_DELAYS is "20 0" if each submission takes 20 ms in the computing family and 0 ms in the copying one. The
 * work is done at the end of that time, and timestamps include it. VULKAN_CARD_HELD is "0 /tmp/held" if no submission
 * of the computing family is done while that file exists. VULKAN_CARD_LOG names a file to which each submission appends
 * a line with its family. If VULKAN_CARD_IS_DISCRETE is set, the driver's device says that it is a discrete GPU. */
#define _DEFAULT_SOURCE
#include "layer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { families = 2, most = 8 };

/* Ends the process for a use that the layer does not support, because the backend has none. */
static void require(bool is_so, const char *what) {
  if (is_so) return;
  fprintf(stderr, "card_layer.c: %s\n", what);
  abort();
}

/* ---- the device's properties */

static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkGetPhysicalDeviceMemoryProperties next_memory;
static PFN_vkGetPhysicalDeviceMemoryProperties2 next_memory2;
static PFN_vkGetPhysicalDeviceProperties next_properties;

static VKAPI_ATTR VkResult VKAPI_CALL create_card_instance(const VkInstanceCreateInfo *info,
                                                           const VkAllocationCallbacks *allocator, VkInstance *out) {
  const VkResult result = create_instance(info, allocator, out);
  if (result != VK_SUCCESS) return result;
  next_families = NEXT_OF_INSTANCE(vkGetPhysicalDeviceQueueFamilyProperties);
  next_memory = NEXT_OF_INSTANCE(vkGetPhysicalDeviceMemoryProperties);
  next_memory2 = NEXT_OF_INSTANCE(vkGetPhysicalDeviceMemoryProperties2);
  next_properties = NEXT_OF_INSTANCE(vkGetPhysicalDeviceProperties);
  return result;
}

static void two_numbers(const char *variable, unsigned numbers[families]) {
  const char *text = getenv(variable);
  require(text == NULL || sscanf(text, "%u %u", &numbers[0], &numbers[1]) == 2, variable);
}

static void count_queues(unsigned counts[families]) {
  counts[0] = 1, counts[1] = 2;
  two_numbers("VULKAN_CARD_QUEUES", counts);
}

static void show_families(uint32_t *count, VkQueueFamilyProperties *items, VkQueueFamilyProperties of_driver) {
  unsigned counts[families];
  count_queues(counts);
  const VkQueueFamilyProperties shown[families] = {
      {.queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, .queueCount = counts[0]},
      {.queueFlags = VK_QUEUE_TRANSFER_BIT, .queueCount = counts[1]},
  };
  if (items == NULL || *count > families) *count = families;
  for (uint32_t i = 0; items != NULL && i < *count; ++i) {
    items[i] = of_driver;
    items[i].queueFlags = shown[i].queueFlags;
    items[i].queueCount = shown[i].queueCount;
  }
}

static VKAPI_ATTR void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t *count,
                                                 VkQueueFamilyProperties *items) {
  uint32_t one = 1;
  VkQueueFamilyProperties of_driver;
  next_families(device, &one, &of_driver);
  show_families(count, items, of_driver);
}

static VKAPI_ATTR void VKAPI_CALL queue_families2(VkPhysicalDevice device, uint32_t *count,
                                                  VkQueueFamilyProperties2 *items) {
  VkQueueFamilyProperties shown[families];
  queue_families(device, count, items == NULL ? NULL : shown);
  for (uint32_t i = 0; items != NULL && i < *count; ++i) items[i].queueFamilyProperties = shown[i];
}

/* Type 0 is device memory, type 1 host memory. */
static void show_memory(VkPhysicalDeviceMemoryProperties *memory) {
  require(memory->memoryTypeCount == 1 && memory->memoryHeapCount == 1, "the driver has more than one type of memory");
  memory->memoryTypeCount = memory->memoryHeapCount = 2;
  memory->memoryHeaps[1] = memory->memoryHeaps[0];
  memory->memoryHeaps[1].flags = 0;
  memory->memoryTypes[1].heapIndex = 1;
  memory->memoryTypes[1].propertyFlags =
      memory->memoryTypes[0].propertyFlags & ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  memory->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
}

static VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out) {
  next_memory(device, out);
  show_memory(out);
}

static VKAPI_ATTR void VKAPI_CALL memory2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *out) {
  next_memory2(device, out);
  show_memory(&out->memoryProperties);
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out) {
  next_properties(device, out);
  if (getenv("VULKAN_CARD_IS_DISCRETE") != NULL) out->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

static VKAPI_ATTR void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out) {
  NEXT(vkGetBufferMemoryRequirements)(device, buffer, out);
  out->memoryTypeBits = 3;
}

static VKAPI_ATTR void VKAPI_CALL requirements2(VkDevice device, const VkBufferMemoryRequirementsInfo2 *info,
                                                VkMemoryRequirements2 *out) {
  NEXT(vkGetBufferMemoryRequirements2)(device, info, out);
  out->memoryRequirements.memoryTypeBits = 3;
}

static VKAPI_ATTR VkResult VKAPI_CALL host_pointer(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                                   const void *pointer, VkMemoryHostPointerPropertiesEXT *out) {
  const VkResult result = NEXT(vkGetMemoryHostPointerPropertiesEXT)(device, type, pointer, out);
  out->memoryTypeBits = 2;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *allocator, VkDeviceMemory *out) {
  VkMemoryAllocateInfo of_driver = *info;
  of_driver.memoryTypeIndex = 0;
  return NEXT(vkAllocateMemory)(device, &of_driver, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkBuffer *out) {
  VkBufferCreateInfo of_driver = *info;
  of_driver.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  of_driver.queueFamilyIndexCount = 0;
  return NEXT(vkCreateBuffer)(device, &of_driver, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator, VkCommandPool *out) {
  VkCommandPoolCreateInfo of_driver = *info;
  of_driver.queueFamilyIndex = 0;
  return NEXT(vkCreateCommandPool)(device, &of_driver, allocator, out);
}

/* ---- timestamps, in nanoseconds, as the software driver's */

struct timestamp {
  struct timestamp *next;
  VkCommandBuffer commands; /* those that write it */
  VkQueryPool pool;
  uint32_t query;
  uint64_t ns; /* 0: not yet */
};

static pthread_mutex_t timing = PTHREAD_MUTEX_INITIALIZER;
static struct timestamp *timestamps; /* latest first */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Forgets those of `commands`, or those of the queries [first, end) of `pool`. */
static void forget_timestamps(VkCommandBuffer commands, VkQueryPool pool, uint32_t first, uint32_t end) {
  pthread_mutex_lock(&timing);
  for (struct timestamp **place = &timestamps; *place != NULL;) {
    struct timestamp *one = *place;
    const bool is_of_pool = pool != VK_NULL_HANDLE && one->pool == pool && first <= one->query && one->query < end;
    if (is_of_pool || (commands != NULL && one->commands == commands)) {
      *place = one->next;
      free(one);
    } else {
      place = &one->next;
    }
  }
  pthread_mutex_unlock(&timing);
}

/* Sets the last timestamp to the end, and the others to equally spaced times before. */
static void pass_timestamps(VkCommandBuffer commands, uint64_t begin, uint64_t end) {
  uint64_t count = 0, behind = 0;
  pthread_mutex_lock(&timing);
  for (const struct timestamp *one = timestamps; one != NULL; one = one->next) count += one->commands == commands;
  for (struct timestamp *one = timestamps; one != NULL; one = one->next) {
    if (one->commands != commands) continue;
    one->ns = count == 1 ? end : end - (end - begin) * behind++ / (count - 1);
    one->commands = NULL;
  }
  pthread_mutex_unlock(&timing);
}

static VKAPI_ATTR void VKAPI_CALL write_timestamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage,
                                                  VkQueryPool pool, uint32_t query) {
  struct timestamp *one = calloc(1, sizeof *one);
  require(one != NULL, "no memory");
  one->commands = commands;
  one->pool = pool;
  one->query = query;
  pthread_mutex_lock(&timing);
  one->next = timestamps;
  timestamps = one;
  pthread_mutex_unlock(&timing);
  NEXT(vkCmdWriteTimestamp)(commands, stage, pool, query);
}

static VKAPI_ATTR VkResult VKAPI_CALL begin_commands(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info) {
  forget_timestamps(commands, VK_NULL_HANDLE, 0, 0);
  return NEXT(vkBeginCommandBuffer)(commands, info);
}

static VKAPI_ATTR void VKAPI_CALL reset_pool(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count) {
  forget_timestamps(NULL, pool, first, first + count);
  NEXT(vkResetQueryPool)(device, pool, first, count);
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice device, VkQueryPool pool,
                                               const VkAllocationCallbacks *allocator) {
  forget_timestamps(NULL, pool, 0, UINT32_MAX);
  NEXT(vkDestroyQueryPool)(device, pool, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL pool_results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count,
                                                   size_t size, void *out, VkDeviceSize stride,
                                                   VkQueryResultFlags flags) {
  const VkResult result = NEXT(vkGetQueryPoolResults)(device, pool, first, count, size, out, stride, flags);
  require(count == 1 && flags == VK_QUERY_RESULT_64_BIT, "such a question for timestamps is not known");
  pthread_mutex_lock(&timing);
  for (const struct timestamp *one = timestamps; result == VK_SUCCESS && one != NULL; one = one->next)
    if (one->pool == pool && one->query == first && one->ns != 0) *(uint64_t *)out = one->ns;
  pthread_mutex_unlock(&timing);
  return result;
}

/* ---- queues: each has a thread, because the driver's one queue works in order */

struct semaphores {
  uint32_t count;
  VkSemaphore items[most];
  uint64_t values[most];
};

struct work {
  struct work *next;
  struct semaphores waits, signals;
  uint32_t count;
  VkCommandBuffer commands[most];
};

struct queue {
  void *dispatch; /* the loader's: dispatchable handles begin with it */
  struct queue *next;
  VkDevice device;
  VkQueue of_driver;
  uint32_t family, index;
  unsigned delay_ms;
  char *held_while; /* a file; NULL if there is none */
  pthread_t thread;
  struct work *first, **end;
  bool is_ending;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;      /* guards all queues */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;      /* some queue has changed */
static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER; /* held to submit to the driver's queue */
static struct queue *queues;

static void tell(uint32_t family) {
  const char *path = getenv("VULKAN_CARD_LOG");
  if (path == NULL) return;
  FILE *file = fopen(path, "a");
  require(file != NULL && fprintf(file, "%u\n", family) > 0 && fclose(file) == 0, "the log cannot be written");
}

static void submit_to_driver(const struct queue *queue, const struct work *work) {
  const VkSemaphoreWaitInfo waits = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                     .semaphoreCount = work->waits.count,
                                     .pSemaphores = work->waits.items,
                                     .pValues = work->waits.values};
  if (waits.semaphoreCount > 0) NEXT(vkWaitSemaphores)(queue->device, &waits, UINT64_MAX);
  const uint64_t begin = now_ns();
  usleep(queue->delay_ms * 1000);
  while (queue->held_while != NULL && access(queue->held_while, F_OK) == 0) usleep(1000);
  for (uint32_t i = 0; i < work->count; ++i) pass_timestamps(work->commands[i], begin, now_ns());
  const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                .signalSemaphoreValueCount = work->signals.count,
                                                .pSignalSemaphoreValues = work->signals.values};
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &values,
                             .commandBufferCount = work->count,
                             .pCommandBuffers = work->commands,
                             .signalSemaphoreCount = work->signals.count,
                             .pSignalSemaphores = work->signals.items};
  pthread_mutex_lock(&submitting);
  const VkResult result = NEXT(vkQueueSubmit)(queue->of_driver, 1, &info, VK_NULL_HANDLE);
  pthread_mutex_unlock(&submitting);
  require(result == VK_SUCCESS, "the driver's vkQueueSubmit failed");
}

/* The file of VULKAN_CARD_HELD, if it is for this family. */
static char *file_that_holds(uint32_t family) {
  const char *text = getenv("VULKAN_CARD_HELD");
  if (text == NULL || strtoul(text, NULL, 10) != family) return NULL;
  require(text[0] != '\0' && text[1] == ' ', "VULKAN_CARD_HELD");
  return strdup(text + 2);
}

static void *run(void *argument) {
  struct queue *queue = argument;
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (queue->first == NULL && !queue->is_ending) pthread_cond_wait(&changed, &mutex);
    struct work *work = queue->first;
    if (work == NULL) break;
    pthread_mutex_unlock(&mutex);
    submit_to_driver(queue, work);
    pthread_mutex_lock(&mutex);
    queue->first = work->next;
    if (queue->first == NULL) queue->end = &queue->first;
    free(work);
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out) {
  struct queue *queue = queues;
  pthread_mutex_lock(&mutex);
  while (queue != NULL && (queue->device != device || queue->family != family || queue->index != index))
    queue = queue->next;
  if (queue == NULL) {
    unsigned delays[families] = {0, 0}, counts[families];
    two_numbers("VULKAN_CARD_DELAYS", delays);
    count_queues(counts);
    require(family < families && index < counts[family], "there is no such queue");
    queue = calloc(1, sizeof *queue);
    require(queue != NULL, "no memory");
    queue->dispatch = *(void **)device;
    queue->device = device;
    queue->family = family;
    queue->index = index;
    queue->delay_ms = delays[family];
    queue->held_while = file_that_holds(family);
    queue->end = &queue->first;
    NEXT(vkGetDeviceQueue)(device, 0, 0, &queue->of_driver);
    queue->next = queues;
    queues = queue;
    require(pthread_create(&queue->thread, NULL, run, queue) == 0, "no thread");
  }
  pthread_mutex_unlock(&mutex);
  *out = (VkQueue)queue;
}

static VKAPI_ATTR void VKAPI_CALL get_queue2(VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *out) {
  get_queue(device, info->queueFamilyIndex, info->queueIndex, out);
}

static struct semaphores copy_of(uint32_t count, const VkSemaphore *items, const uint64_t *values) {
  require(count <= most, "too many semaphores");
  struct semaphores out = {.count = count};
  for (uint32_t i = 0; i < count; ++i) {
    out.items[i] = items[i];
    out.values[i] = values[i];
  }
  return out;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue handle, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
  struct queue *queue = (struct queue *)handle;
  require(fence == VK_NULL_HANDLE, "there are no fences");
  for (uint32_t i = 0; i < count; ++i) {
    const VkTimelineSemaphoreSubmitInfo *values = infos[i].pNext;
    require(values != NULL && values->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO &&
                infos[i].commandBufferCount <= most,
            "such a submission is not known");
    struct work *work = calloc(1, sizeof *work);
    require(work != NULL, "no memory");
    work->waits = copy_of(infos[i].waitSemaphoreCount, infos[i].pWaitSemaphores, values->pWaitSemaphoreValues);
    work->signals = copy_of(infos[i].signalSemaphoreCount, infos[i].pSignalSemaphores, values->pSignalSemaphoreValues);
    work->count = infos[i].commandBufferCount;
    for (uint32_t k = 0; k < work->count; ++k) work->commands[k] = infos[i].pCommandBuffers[k];
    pthread_mutex_lock(&mutex);
    tell(queue->family);
    *queue->end = work;
    queue->end = &work->next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkDevice device) {
  pthread_mutex_lock(&mutex);
  for (struct queue *queue = queues; queue != NULL; queue = queue->next)
    while (queue->device == device && queue->first != NULL) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return NEXT(vkDeviceWaitIdle)(device);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue handle) {
  return wait_idle(((struct queue *)handle)->device);
}

/* ---- the device itself */

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *out) {
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  VkDeviceCreateInfo of_driver = *info;
  of_driver.queueCreateInfoCount = 1;
  of_driver.pQueueCreateInfos = &queue;
  return create_next_device(physical, &of_driver, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *allocator) {
  pthread_mutex_lock(&mutex);
  for (struct queue **place = &queues; *place != NULL;) {
    struct queue *queue = *place;
    if (queue->device != device) {
      place = &queue->next;
      continue;
    }
    *place = queue->next;
    queue->is_ending = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(queue->thread, NULL);
    free(queue->held_while);
    free(queue);
    pthread_mutex_lock(&mutex);
    place = &queues;
  }
  pthread_mutex_unlock(&mutex);
  NEXT(vkDestroyDevice)(device, allocator);
}

static PFN_vkVoidFunction ours(const char *wanted) {
  static const struct named_function functions[] = {
      {"vkCreateInstance", (PFN_vkVoidFunction)create_card_instance},
      {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)queue_families},
      {"vkGetPhysicalDeviceQueueFamilyProperties2", (PFN_vkVoidFunction)queue_families2},
      {"vkGetPhysicalDeviceQueueFamilyProperties2KHR", (PFN_vkVoidFunction)queue_families2},
      {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)properties},
      {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)memory},
      {"vkGetPhysicalDeviceMemoryProperties2", (PFN_vkVoidFunction)memory2},
      {"vkGetPhysicalDeviceMemoryProperties2KHR", (PFN_vkVoidFunction)memory2},
      {"vkGetBufferMemoryRequirements", (PFN_vkVoidFunction)requirements},
      {"vkGetBufferMemoryRequirements2", (PFN_vkVoidFunction)requirements2},
      {"vkGetBufferMemoryRequirements2KHR", (PFN_vkVoidFunction)requirements2},
      {"vkGetMemoryHostPointerPropertiesEXT", (PFN_vkVoidFunction)host_pointer},
      {"vkAllocateMemory", (PFN_vkVoidFunction)allocate},
      {"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer},
      {"vkCreateCommandPool", (PFN_vkVoidFunction)create_pool},
      {"vkGetDeviceQueue", (PFN_vkVoidFunction)get_queue},
      {"vkGetDeviceQueue2", (PFN_vkVoidFunction)get_queue2},
      {"vkQueueSubmit", (PFN_vkVoidFunction)submit},
      {"vkQueueWaitIdle", (PFN_vkVoidFunction)queue_wait_idle},
      {"vkDeviceWaitIdle", (PFN_vkVoidFunction)wait_idle},
      {"vkCmdWriteTimestamp", (PFN_vkVoidFunction)write_timestamp},
      {"vkBeginCommandBuffer", (PFN_vkVoidFunction)begin_commands},
      {"vkResetQueryPool", (PFN_vkVoidFunction)reset_pool},
      {"vkDestroyQueryPool", (PFN_vkVoidFunction)destroy_pool},
      {"vkGetQueryPoolResults", (PFN_vkVoidFunction)pool_results},
      {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
      {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
  };
  NAMED_IN(functions, wanted);
}
