/* Lists backends and devices: names, kinds, memory, the best device. */
#include "check.h"

/* Reads a load report through its accessors. */
static void look_at(const fe_load_report *report) {
  fe_load_report_info info;
  fe_load_root root;
  fe_load_candidate candidate;
  fe_string *text = NULL;
  const char *path = NULL, *reason = NULL;
  int loaded = 0;
  info.struct_size = sizeof info;
  root.struct_size = sizeof root;
  candidate.struct_size = sizeof candidate;
  MUST(fe_load_report_info_get(report, &info));
  EXPECT(info.struct_size == sizeof info && info.candidate_count >= 1 && info.milliseconds > 0);
  EXPECT(strcmp(info.select, "manifest") == 0 && info.probe[0] != '\0' && info.trust[0] != '\0');
  for (size_t i = 0; i < info.root_count; ++i) {
    MUST(fe_load_report_root(report, i, &root));
    EXPECT(root.origin[0] != '\0' && root.problem != NULL);
  }
  for (size_t i = 0; i < info.candidate_count; ++i) {
    MUST(fe_load_report_candidate(report, i, &candidate));
    EXPECT(candidate.path[0] != '\0' && fe_load_state_name(candidate.state) != NULL);
    if (candidate.state != FE_LOAD_LOADED || strcmp(candidate.name, "cpu") != 0) continue;
    ++loaded;
    EXPECT(candidate.device_count == 1 && strcmp(candidate.devices[0], "cpu:0") == 0);
  }
  EXPECT(loaded == 1);
  EXPECT(strcmp(fe_load_state_name(FE_LOAD_PROBE_FAILED), "probe_failed") == 0);
  EXPECT(fe_load_state_name((fe_load_state)77) == NULL && fe_load_state_name((fe_load_state)-1) == NULL);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_info_get(NULL, &info));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_info_get(report, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_root(report, info.root_count, &root));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_candidate(report, info.candidate_count, &candidate));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_remaining(report, info.remaining_count, &path, &reason));
  info.struct_size = 1;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_info_get(report, &info));
  MUST(fe_load_report_format(report, "text", &text));
  EXPECT(strstr(fe_string_data(text), "modules loaded in") != NULL);
  fe_string_release(text);
  MUST(fe_load_report_format(report, "json", &text));
  EXPECT(strstr(fe_string_data(text), "\"candidates\":") != NULL);
  fe_string_release(text);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_format(report, "xml", &text));
  fe_load_report_release(NULL);
}

int main(void) {
  fe_backend_ref **backends = NULL, *backend = NULL;
  fe_device **devices = NULL, *best = NULL, *same = NULL;
  fe_string *text = NULL;
  fe_load_report *report = NULL;
  size_t count = 0, views = 0;
  uint64_t free_bytes = 0, total_bytes = 0;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_load_all(NULL, &report)); /* idempotent */
  MUST(fe_load_report_explain(report, "CPU", NULL, &text));
  EXPECT(strncmp(fe_string_data(text), "cpu: it is ", 11) == 0); /* loaded or linked in */
  fe_string_release(text);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_explain(NULL, "cpu", NULL, &text));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load_report_explain(report, NULL, NULL, &text));
  look_at(report);
  fe_load_report_release(report);
  MUST(fe_refresh());
  MUST(fe_executable_dir(&text));
  EXPECT(fe_string_data(text)[0] != '\0');
  fe_string_release(text);

  MUST(fe_backends(&backends, &count));
  EXPECT(count >= 1);
  for (size_t i = 0; i < count; ++i) {
    fe_backend_details details;
    details.struct_size = sizeof details;
    MUST(fe_backend_details_get(backends[i], &details));
    EXPECT(strlen(details.name) > 0);
    fe_backend_release(backends[i]);
  }
  fe_list_free(backends);

  MUST(fe_devices(&devices, &count));
  EXPECT(count >= 1);
  for (size_t i = 0; i < count; ++i) {
    EXPECT(strchr(fe_device_name(devices[i]), ':') != NULL);
    fe_device_release(devices[i]);
  }
  fe_list_free(devices);

  MUST(fe_device_views(&devices, &views)); /* at least one view per device */
  EXPECT(views >= count);
  for (size_t i = 0; i < views; ++i) fe_device_release(devices[i]);
  fe_list_free(devices);

  MUST(fe_device_best(&best)); /* never the null backend's device */
  MUST(fe_device_by_name("cpu:0", NULL, &same));
  EXPECT(fe_device_equal(best, same));
  EXPECT(fe_device_id(best) != 0 && fe_device_id(best) == fe_device_id(same));
  fe_device_release(same);
  MUST(fe_device_by_name("CPU", "Cpu", &same)); /* the CPU backend's view of it */
  EXPECT(fe_device_equal(best, same));
  fe_device_release(same);
  MUST(fe_device_view(best, "cpu", &same));
  EXPECT(fe_device_equal(best, same));
  MUST(fe_device_backends(best, &backends, &count));
  EXPECT(count == 1);
  for (size_t i = 0; i < count; ++i) fe_backend_release(backends[i]);
  fe_list_free(backends);
  MUST(fe_device_backend(best, &backend));
  MUST(fe_device_memory(best, &free_bytes, &total_bytes));
  EXPECT(total_bytes > 0);
  MUST(fe_device_open(best, NULL, 0));
  EXPECT(in_use(best) == 0);
  FAILS_WITH(FE_NOT_FOUND, fe_device_by_name("cpu:99", NULL, &same));
  FAILS_WITH(FE_NOT_FOUND, fe_device_by_kind(FE_DEVICE_REMOTE, &same));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_by_kind((fe_device_kind)99, &same));
  FAILS_WITH(FE_NOT_FOUND, fe_device_by_name("cpu", "nothing", &same));
  FAILS_WITH(FE_NOT_FOUND, fe_device_view(best, "nothing", &same));
  fe_device_release(same);
  fe_backend_release(backend);
  fe_device_release(best);
  MUST(fe_shutdown());
  return 0;
}
