/* A trace of a small computation: its events, and the errors of wrong calls. */
#include "check.h"

static const fe_trace_event *event_of(const fe_trace *trace, size_t count, fe_trace_kind kind, fe_trace_event *out) {
  size_t i;
  for (i = 0; i < count; ++i) {
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    MUST(fe_trace_event_get(trace, i, out));
    if (out->kind == kind) return out;
  }
  return NULL;
}

static void refuse_wrong_calls(void) {
  fe_trace *trace = NULL;
  fe_trace_info info;
  fe_trace_event event;
  info.struct_size = sizeof info;
  event.struct_size = sizeof event;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_begin(10, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_begin(0, &trace));
  EXPECT(trace == NULL);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_end(NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_info_get(NULL, &info));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_event_get(NULL, 0, &event));
  MUST(fe_trace_begin(10, &trace));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_info_get(trace, &info)); /* not stopped yet */
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_event_get(trace, 0, &event));
  MUST(fe_trace_end(trace));
  MUST(fe_trace_end(trace));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_info_get(trace, NULL));
  info.struct_size = 1;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_info_get(trace, &info));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_event_get(trace, 0, &event)); /* no events yet */
  fe_trace_release(trace);
  MUST(fe_trace_begin(10, &trace));
  fe_trace_release(trace); /* not stopped */
  fe_trace_release(NULL);
  EXPECT(strcmp(fe_trace_kind_name(FE_TRACE_RECORD), "record") == 0);
  EXPECT(strcmp(fe_trace_kind_name(FE_TRACE_WAIT), "wait") == 0);
  EXPECT(fe_trace_kind_name((fe_trace_kind)(FE_TRACE_WAIT + 1)) == NULL);
}

int main(void) {
  static const int64_t shape[] = {2, 3};
  static float data[] = {1, 2, 3, 4, 5, 6};
  fe_device *device = NULL;
  fe_array *x = NULL, *y = NULL;
  fe_array *operands[2];
  fe_trace *trace = NULL;
  fe_trace_info info;
  fe_trace_event event;
  refuse_wrong_calls();
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_by_name("cpu", NULL, &device));
  x = borrowed(device, data, 2, shape);
  MUST(fe_trace_begin(1000, &trace));
  operands[0] = operands[1] = x;
  MUST(fe_array_apply("add", operands, NULL, 2, NULL, 0, &y, 1));
  MUST(fe_eval(&y, 1, NULL, NULL));
  MUST(fe_trace_end(trace));
  info.struct_size = sizeof info;
  MUST(fe_trace_info_get(trace, &info));
  EXPECT(info.dropped == 0 && info.event_count > 0 && info.begin_ns < info.end_ns);
  EXPECT(event_of(trace, info.event_count, FE_TRACE_RECORD, &event) != NULL);
  EXPECT(strcmp(event.name, "add") == 0 && event.queue == -1 && event.thread != 0);
  EXPECT(event_of(trace, info.event_count, FE_TRACE_KERNEL, &event) != NULL);
  EXPECT(strcmp(event.name, "add") == 0 && strcmp(event.device, "cpu:0") == 0);
  EXPECT(event.bytes_read == 2 * 24 && event.bytes_written == 24);
  EXPECT(info.begin_ns <= event.begin_ns && event.begin_ns <= event.end_ns && event.end_ns <= info.end_ns);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_trace_event_get(trace, info.event_count, &event));
  fe_trace_release(trace);
  fe_array_release(x);
  fe_array_release(y);
  fe_device_release(device);
  MUST(fe_shutdown());
  return 0;
}
