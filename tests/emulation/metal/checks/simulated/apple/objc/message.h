// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

extern "C" {
void objc_msgSend();
void objc_msgSend_fpret();
void objc_msgSend_stret();
}
