/* Backends and devices without JSON: details, capabilities, functions by name, and the reason why a backend is missing.
 * */
#include "check.h"

static void look_at_the_backend(fe_backend_ref *backend) {
  fe_backend_details details;
  fe_device **devices = NULL;
  size_t count = 0;
  memset(&details, 0, sizeof details);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_details_get(backend, &details)); /* no size */
  details.struct_size = sizeof details + 64;                                  /* as in a later version */
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_details_get(NULL, &details));
  details.struct_size = sizeof details;
  MUST(fe_backend_details_get(backend, &details));
  EXPECT(details.struct_size == sizeof details);
  EXPECT(strcmp(details.name, "cpu") == 0);
  EXPECT(strlen(details.variant) > 0 || strcmp(details.path, "static") == 0);
  EXPECT(strcmp(details.version, fe_version()) == 0);
  EXPECT(strlen(details.path) > 0);
  EXPECT(details.has_rank == (strcmp(details.path, "static") != 0));
  EXPECT(details.kinds == 1u << FE_DEVICE_CPU);
  EXPECT(details.device_count == 1 && !details.closed);
  MUST(fe_backend_devices(backend, &devices, &count));
  EXPECT(count == 1 && strcmp(fe_device_name(devices[0]), "cpu:0") == 0);
  fe_device_release(devices[0]);
  fe_list_free(devices);
}

static void look_at_the_device(fe_device *device) {
  fe_device_details details;
  memset(&details, 0, sizeof details);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_details_get(device, &details));
  details.struct_size = sizeof details;
  MUST(fe_device_details_get(device, &details));
  EXPECT(details.kind == FE_DEVICE_CPU && details.index == 0);
  EXPECT(strcmp(details.backend, "cpu") == 0);
  EXPECT(strlen(details.description) > 0 && strstr(details.detail, "variant") != NULL);
  EXPECT(details.capabilities ==
         (FE_CAPABILITY_HOST_BUFFERS | FE_CAPABILITY_BORROWS)); /* it computes on the calling thread */
  EXPECT(details.total_memory > 0 && details.max_allocation == 0 && details.borrow_alignment == 1);
  EXPECT(!details.has_uuid && strcmp(details.pci_address, "") == 0);
  EXPECT(!details.open);
  MUST(fe_device_open(device, NULL, 0));
  MUST(fe_device_details_get(device, &details));
  EXPECT(details.open);
  EXPECT(strcmp(fe_device_kind_name(details.kind), "cpu") == 0);
  EXPECT(fe_device_kind_name((fe_device_kind)99) == NULL);
}

static void ask_by_name(fe_backend_ref *backend) {
  fe_proc function = NULL;
  size_t count = 0;
  int has_variant = 0;
  const fe_feature *features;
  const char *text;
  MUST(fe_backend_get_proc(backend, "no such function", &function));
  EXPECT(function == NULL);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_get_proc(backend, NULL, &function));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_get_proc(backend, FE_FEATURES, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_get_proc(NULL, FE_FEATURES, &function));
  MUST(fe_backend_get_proc(backend, FE_FEATURES_TEXT, &function));
  EXPECT(function != NULL);
  text = ((fe_features_text_function)function)();
  MUST(fe_backend_get_proc(backend, FE_FEATURES, &function));
  features = ((fe_features_function)function)(&count);
  EXPECT(count > 1);
  for (size_t i = 0; i < count; ++i) { /* the same in all of them */
    char entry[200];
    fe_feature feature;
    feature.struct_size = sizeof feature;
    MUST(fe_backend_feature(backend, i, &feature));
    EXPECT(strcmp(feature.name, fe_feature_at(features, i)->name) == 0);
    EXPECT(strcmp(feature.value, fe_feature_at(features, i)->value) == 0);
    snprintf(entry, sizeof entry, "%s = %s", fe_feature_at(features, i)->name, fe_feature_at(features, i)->value);
    EXPECT(strstr(text, entry) != NULL);
    has_variant |= strcmp(fe_feature_at(features, i)->name, "variant") == 0;
  }
  EXPECT(has_variant);
  {
    fe_feature feature;
    feature.struct_size = sizeof feature;
    FAILS_WITH(FE_NOT_FOUND, fe_backend_feature(backend, count, &feature));
  }
  MUST(fe_backend_get_proc(backend, FE_SET_N_THREADS, &function));
  ((fe_set_n_threads_function)function)(1);
  ((fe_set_n_threads_function)function)(0);
}

/* A function stays valid, and its backend loaded, until the handle is released. */
static void a_function_keeps_its_backend(void) {
  fe_backend_ref *backend = NULL, *other = NULL;
  fe_backend_details details;
  fe_proc function = NULL;
  MUST(fe_backend_by_name("CPU", &backend));
  MUST(fe_backend_by_name("cpu", &other));
  MUST(fe_backend_get_proc(backend, FE_FEATURES_TEXT, &function));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_unload("cpu"));
  EXPECT(((fe_features_text_function)function)() != NULL);
  fe_backend_release(backend);
  MUST(fe_unload("cpu"));
  FAILS_WITH(FE_NOT_FOUND, fe_backend_get_proc(other, FE_FEATURES_TEXT, &function));
  EXPECT(function == NULL);
  memset(&details, 0, sizeof details);
  details.struct_size = sizeof details;
  MUST(fe_backend_details_get(other, &details));
  EXPECT(details.closed && details.device_count == 0 && details.kinds == 0 && strcmp(details.name, "cpu") == 0);
  fe_backend_release(other);
  FAILS_WITH(FE_NOT_FOUND, fe_backend_by_name("cpu", &other));
}

static int explains(const fe_load_report *report, const char *name, const char *sentence) {
  fe_string *text = NULL;
  int is_so;
  MUST(fe_load_report_explain(report, name, NULL, &text));
  is_so = strncmp(fe_string_data(text), sentence, strlen(sentence)) == 0;
  if (!is_so) fprintf(stderr, "%s\n", fe_string_data(text));
  fe_string_release(text);
  return is_so;
}

int main(void) {
  fe_backend_ref *backend = NULL;
  fe_device *device = NULL;
  fe_load_report *report = NULL;
  MUST(fe_load_all(NULL, &report));
  MUST(fe_backend_by_name("cpu", &backend));
  FAILS_WITH(FE_NOT_FOUND, fe_backend_by_name("cpuu", &backend));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_by_name(NULL, &backend));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_by_name("cpu", NULL));
  MUST(fe_device_by_name("cpu", NULL, &device));
  look_at_the_backend(backend);
  look_at_the_device(device);
  ask_by_name(backend);
  EXPECT(explains(report, "GPU", "gpu: no loaded backend drives such a device; loaded is "));
  EXPECT(explains(report, "gpu:1", "gpu: no loaded backend drives such a device; loaded is "));
  EXPECT(explains(report, "cpu:0", "cpu: it is "));
  EXPECT(explains(report, "nobody", "nobody: no module of that name was found"));
  fe_device_release(device);
  fe_backend_release(backend);
  a_function_keeps_its_backend();
  fe_load_report_release(report);
  MUST(fe_shutdown());
  return 0;
}
