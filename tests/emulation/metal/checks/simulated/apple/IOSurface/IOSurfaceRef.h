// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

using IOSurfaceRef = struct __IOSurface*;
