/* The options of a load: what they select, and the message about each wrong one. */
#include "check.h"

#include <stddef.h>

static fe_load_options defaults(void) {
  fe_load_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  return options;
}

static void refused(fe_code code, fe_error *error, const char *message, int line) {
  if (fe_error_code(error) != code || strstr(fe_error_message(error), message) == NULL) {
    fprintf(stderr, "line %d: code %d: %s\n", line, (int)fe_error_code(error), fe_error_message(error));
    exit(1);
  }
  fe_error_release(error);
}
#define REFUSED(options, message) refused(FE_INVALID_ARGUMENT, fe_load_all(&(options), NULL), message, __LINE__)
#define FILE_REFUSED(options, message) refused(FE_INVALID_ARGUMENT, fe_load("x", &(options), NULL), message, __LINE__)

static void wrong_values(void) {
  static const char *const names[] = {"cpu", NULL};
  fe_load_options options = defaults();
  options.probe = "sometimes";
  REFUSED(options, "load_all: probe is 'sometimes', and must be one of: auto, always, never");
  FILE_REFUSED(options, "load: probe is 'sometimes'");
  options = defaults();
  options.trust = "everyone";
  REFUSED(options, "load_all: trust is 'everyone', and must be one of: owner, manifest-hash, any");
  options = defaults();
  options.select = "best";
  REFUSED(options, "load_all: select is 'best', and must be one of: manifest, score");
  options = defaults();
  options.only = names;
  options.only_count = 2;
  REFUSED(options, "load_all: only[1] is NULL");
  options.only = NULL;
  REFUSED(options, "load_all: only is NULL, and has 2 entries");
  options = defaults();
  options.require_count = (size_t)1 << 40;
  REFUSED(options, "load_all: require has 1099511627776 entries, more than there can be");
  options = defaults();
  options.dir_count = 1;
  REFUSED(options, "load_all: dirs is NULL, and has 1 entries");
}

/* fe_load takes one file, and fe_load_all many. */
static void fields_of_the_other_function(void) {
  static const char *const names[] = {"cpu"};
  fe_load_options options = defaults();
  options.as_name = "mine";
  REFUSED(options, "load_all: as_name is 'mine', and load_all gives no names");
  options = defaults();
  options.dirs = names;
  FILE_REFUSED(options, "load: dirs is set, and only load_all has it");
  options = defaults();
  options.extra_roots = options.require = options.only = names;
  options.extra_root_count = 1;
  FILE_REFUSED(options, "load: extra_roots is set");
  options.extra_root_count = 0;
  options.only_count = 1;
  FILE_REFUSED(options, "load: only is set");
  options.only_count = 0;
  options.require_count = 1;
  FILE_REFUSED(options, "load: require is set");
  options.require_count = 0;
  options.select = "score";
  FILE_REFUSED(options, "load: select is set");
}

/* Headers from before the first version and from after this one. */
static void other_sizes(void) {
  struct {
    fe_load_options options;
    uint64_t later;
  } longer;
  fe_load_options options = defaults();
  options.struct_size = offsetof(fe_load_options, reprobe);
  REFUSED(options, "load_all: options has a struct_size of ");
  FILE_REFUSED(options, "load: options has a struct_size of ");
  memset(&longer, 0xff, sizeof longer);
  longer.options = defaults();
  longer.options.struct_size = sizeof longer;
  longer.options.probe = "sometimes";
  REFUSED(longer.options, "load_all: probe is 'sometimes'");
}

static size_t candidates(const fe_load_report *report) {
  fe_load_report_info info;
  info.struct_size = sizeof info;
  MUST(fe_load_report_info_get(report, &info));
  return info.candidate_count;
}

static int has_cpu(void) {
  fe_backend_ref *backend = NULL;
  fe_error *error = fe_backend_by_name("cpu", &backend);
  const int found = error == NULL;
  fe_error_release(error);
  fe_backend_release(backend);
  return found;
}

int main(void) {
  static const char *const nowhere[] = {"/no/such/folder"}, *const cpu[] = {"cpu"}, *const absent[] = {"abacus"};
  fe_load_options options = defaults();
  fe_load_report *report = NULL;
  const int is_linked_in = has_cpu();
  wrong_values();
  fields_of_the_other_function();
  other_sizes();
  EXPECT(has_cpu() == is_linked_in); /* nothing was loaded */

  options.dirs = nowhere;
  options.dir_count = 1;
  refused(FE_NOT_FOUND, fe_load_all(&options, NULL), "/no/such/folder", __LINE__);
  options.dir_count = 0; /* no folder: all that is found is what is linked into the program */
  MUST(fe_load_all(&options, &report));
  EXPECT(has_cpu() == is_linked_in && (candidates(report) > 0) == is_linked_in);
  fe_load_report_release(report);

  options = defaults();
  options.only = cpu;
  options.require = cpu;
  options.only_count = options.require_count = 1;
  options.select = "score";
  options.probe = "never";
  options.trust = "any";
  options.reprobe = 1;
  MUST(fe_load_all(&options, &report));
  EXPECT(candidates(report) > 0 && has_cpu());
  {
    fe_load_report_info info;
    info.struct_size = sizeof info;
    MUST(fe_load_report_info_get(report, &info));
    EXPECT(strcmp(info.select, "score") == 0 && strcmp(info.probe, "never") == 0 && strcmp(info.trust, "any") == 0);
  }
  fe_load_report_release(report);

  options.require = absent; /* the report is given nevertheless */
  report = NULL;
  refused(FE_NOT_FOUND, fe_load_all(&options, &report), "abacus", __LINE__);
  EXPECT(report != NULL && candidates(report) > 0);
  fe_load_report_release(report);
  MUST(fe_shutdown());
  return 0;
}
