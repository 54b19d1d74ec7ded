"""Faults of the core, one edit each: a queue, the host or an allocation does not wait for the work of another queue, an
error gets lost, or an update overwrites what it reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CoreFault:
    file: str  # relative to csrc/core
    before: str  # occurs exactly once
    after: str
    what: str
    test: str  # must fail: `file.py::name` of tests/python, or a filter of ferrule-tests


_QUEUE, _STORAGE, _ALLOCATOR = "memory/queue.cpp", "memory/storage.cpp", "memory/allocator.cpp"
_TRANSFER, _RUN = "copy/transfer.cpp", "executor/run.cpp"

_READS = "array/test_asynchronous.py::test_reads_wait_for_pending_work"
_UPDATES = "array/test_asynchronous.py::test_an_update_in_place_waits_for_copies_of_the_array"
_MEMORY = "array/test_asynchronous.py::test_freed_memory_is_not_reused_too_early"
_RETURNS = "array/test_asynchronous.py::test_eval_without_wait_returns_before_the_work_is_done"
_EACH_READ = "array/test_asynchronous_failures.py::test_every_read_of_a_failed_array_raises_the_error_with_the_op_name"
_GIVEN_BEFORE = "array/test_asynchronous_failures.py::test_work_submitted_before_the_failure_is_known_fails_too"
_KNOWN = "array/test_asynchronous_failures.py::test_eval_and_await_raise_a_known_failure"
_LIMIT = "array/test_asynchronous_memory.py::test_memory_limit_applies_until_it_is_removed"
_PIECES = "array/test_asynchronous_memory.py::test_large_array_is_complete_when_read_on_the_cpu"

CORE_FAULTS = [
    CoreFault(
        "compiler/write_in_place.cpp",
        "std::none_of(node.inputs.begin() + 1, node.inputs.end(), reads_x);",
        "std::none_of(node.inputs.end(), node.inputs.end(), reads_x);",
        "an update may overwrite what its value reads",
        "functions/test_slicing.py::test_an_update_may_read_what_it_replaces",
    ),
    CoreFault(
        _QUEUE,
        "const ErrorPointer error(queue_.device().table().queue_wait_event(queue_.handle(), event->handle));",
        "const ErrorPointer error;",
        "no queue waits for another",
        _READS,
    ),
    CoreFault(
        _QUEUE,
        "      awaited_.push_back(write);\n",
        "",
        "who reads does not wait for who wrote",
        _READS,
    ),
    CoreFault(
        _QUEUE,
        "  for (const auto& storage : written_) storage->add_uses(awaited_);\n",
        "",
        "who writes does not wait for who reads",
        _UPDATES,
    ),
    CoreFault(
        _QUEUE,
        "    for (const auto& storage : read_) storage->was_read(work);\n",
        "",
        "nobody knows who reads",
        _MEMORY,
    ),
    CoreFault(
        _QUEUE,
        "    for (const auto& storage : written_) storage->was_written(work);\n",
        "",
        "nobody knows who writes",
        _READS,
    ),
    CoreFault(
        _QUEUE,
        "      inputs_.push_back(write);\n",
        "",
        "the error of an input is none of what reads it",
        _GIVEN_BEFORE,
    ),
    CoreFault(
        _QUEUE,
        "if (write->is_over()) write->check();",
        "if (write->is_over()) continue;",
        "work is given though its input is known to have failed",
        "*FailureAffectsOnlyDependentArrays*",
    ),
    CoreFault(
        _QUEUE,
        "if (const WorkPointer work = newest()) work->wait(cancel);",
        "if (const WorkPointer work = oldest()) work->wait(cancel);",
        "a device is waited for until its first work is over",
        "array/test_asynchronous.py::test_synchronize_waits_for_all_work",
    ),
    CoreFault(
        "memory/work.cpp",
        "if (input.is_over() && input.has_failed()) failed_input",
        "if (input.is_over() && input.has_failed() && false) failed_input",
        "work whose input fails ends well",
        _GIVEN_BEFORE,
    ),
    CoreFault(
        _STORAGE,
        "  write->wait(cancel);\n",
        "  if (write->has_failed()) write->wait(cancel);\n",
        "the host does not wait for who writes",
        _READS,
    ),
    CoreFault(
        _STORAGE,
        "  write->check();\n",
        "",
        "the host does not hear that a write has failed",
        _KNOWN,
    ),
    CoreFault(
        _STORAGE,
        "std::find_if(uses.works.begin() + (uses.has_write ? 1 : 0), uses.works.end(), is_of_queue)",
        "std::find_if(uses.works.begin(), uses.works.end(), is_of_queue)",
        "who reads takes the place of who wrote on the same queue",
        _EACH_READ,
    ),
    CoreFault(
        _STORAGE,
        "  uses.has_write = true;\n",
        "",
        "who wrote is taken for a reader",
        _READS,
    ),
    CoreFault(
        _STORAGE,
        "uses ? std::move(uses->works) : Fences()",
        "uses && uses->has_write && false ? std::move(uses->works) : Fences()",
        "memory is given back without its fences",
        _MEMORY,
    ),
    CoreFault(
        _ALLOCATOR,
        "work->may_free_memory() || &work->queue() == queue; });",
        "work->may_free_memory() || &work->queue() == queue || queue == nullptr; });",
        "the host gets memory that a queue still uses",
        _MEMORY,
    ),
    CoreFault(
        _ALLOCATOR,
        "  device_.attached<DeviceQueues>().synchronize();\n",
        "",
        "for want of memory nothing is waited for",
        _LIMIT,
    ),
    CoreFault(
        _ALLOCATOR,
        "    if (turn > 0) make_room();\n",
        "",
        "cached memory does not give way to a limit",
        _LIMIT,
    ),
    CoreFault(
        _TRANSFER,
        "  work.reads(from.storage);\n",
        "",
        "a download does not wait for who wrote",
        _READS,
    ),
    CoreFault(
        _TRANSFER,
        "  if (to) work.writes(to);\n",
        "  work.keep(to);\n",
        "memory of the host does not know of the download into it",
        _READS,
    ),
    CoreFault(
        _TRANSFER,
        "  work.writes(to.storage);\n",
        "",
        "memory does not know of the upload into it",
        _READS,
    ),
    CoreFault(
        _TRANSFER,
        "  work.completes(before);\n  work.keep(owner);\n  return",
        "  work.completes(before);\n  if (before) work.keep(owner);\n  return",
        "the memory that stages an upload is filled again too early",
        _MEMORY,
    ),
    CoreFault(
        _TRANSFER,
        "  work.writes(to.storage);\n  work.completes(before);\n",
        "  work.writes(to.storage);\n  work.completes(before && before->has_failed() ? before : nullptr);\n",
        "an upload in pieces ends well when its last piece does",
        "array/test_asynchronous_failures.py::test_failure_in_one_piece_fails_the_whole_copy",
    ),
    CoreFault(
        _TRANSFER,
        "!table.copy_peer) return false;\n"
        "  Submission work(device, FE_QUEUE_UPLOAD, copy_of(from));\n"
        "  work.reads(from.data.storage);\n",
        "!table.copy_peer) return false;\n  Submission work(device, FE_QUEUE_UPLOAD, copy_of(from));\n",
        "a copy between devices does not wait for who wrote",
        _READS,
    ),
    CoreFault(
        _RUN,
        "    else\n      work.reads(storage);\n",
        "    else\n      continue;\n",
        "a kernel does not wait for who wrote its inputs",
        _READS,
    ),
    CoreFault(
        _RUN,
        "      storage->finish_write(options_.cancel);\n",
        "      continue;\n",
        "a kernel of the CPU does not wait for a download into its input",
        _READS,
    ),
    CoreFault(
        "api/arrays.cpp",
        "      if (view.storage) view.storage->finish_write({cancel, argument});\n",
        "      if (view.storage && view.storage->is_part()) view.storage->finish_write({cancel, argument});\n",
        "eval does not wait",
        "array/test_asynchronous.py::test_eval_returns_when_the_work_is_done",
    ),
    CoreFault(
        "api/arrays.cpp",
        "if (!write->is_over()) return 0;",
        "if (!write->is_over()) continue;",
        "an array is ready when its work was given",
        _RETURNS,
    ),
    CoreFault(
        "api/arrays.cpp",
        "        if (write->has_failed()) answer = -1;\n",
        "",
        "eval does not raise what is known",
        _KNOWN,
    ),
    CoreFault(
        "memory/work.cpp",
        "std::call_once(rest_is_done_, *rest);",
        "",
        "what came in pieces is not taken to its place",
        _PIECES,
    ),
    CoreFault(
        "copy/transfer.cpp",
        "piece.get(), piece, to, work, take);",
        "piece.get(), piece, to, nullptr, take);",
        "who reads what came in pieces waits for the last of them alone",
        _PIECES,
    ),
]
