// Functions of the C library by which a program looks around without a system call. A recorded
// library is loaded so that it finds these first.
#include <cstdlib>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"
#include "host_recording/recorder/world.h"

KW_RECORDED char* getenv(const char* name) noexcept {
  return const_cast<char*>(kw_record_variable(name));
}
KW_RECORDED char* secure_getenv(const char* name) noexcept {
  return const_cast<char*>(kw_record_variable(name));
}
KW_RECORDED void* dlopen(const char*, int) noexcept {
  kw::recorder::looked_at("other libraries");
  return nullptr;
}
KW_RECORDED void* dlmopen(long, const char*, int) noexcept {
  kw::recorder::looked_at("other libraries");
  return nullptr;
}
KW_RECORDED void* dlsym(void*, const char*) noexcept {
  kw::recorder::looked_at("other libraries");
  return nullptr;
}
KW_RECORDED void* dlvsym(void*, const char*, const char*) noexcept {
  kw::recorder::looked_at("other libraries");
  return nullptr;
}
KW_RECORDED int dladdr(const void*, void*) noexcept {
  kw::recorder::looked_at("other libraries");
  return 0;
}
KW_RECORDED int dlinfo(void*, int, void*) noexcept {
  kw::recorder::looked_at("other libraries");
  return -1;
}
KW_RECORDED unsigned long getauxval(unsigned long) noexcept {
  kw::recorder::looked_at("its auxiliary vector");
  return 0;
}
