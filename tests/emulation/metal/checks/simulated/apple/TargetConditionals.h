// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

#define TARGET_OS_OSX 1
#define __MAC_OS_X_VERSION_MIN_REQUIRED 140000
