// The error that a call throws.
#pragma once

#include "core/error.h"

#include <gtest/gtest.h>

namespace ferrule::test {

template <class Function>
Error error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {FE_OK, ""};
}

}  // namespace ferrule::test
