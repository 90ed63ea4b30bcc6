# The one time limit of a test, in seconds: it ends what hangs and decides nothing else. A machine that does four other things at
# once is slow, and no test is wrong because of that.
set(KW_HANG_SECONDS 3600)

# kw_light_test(target): a test program whose own code is not worth optimising. In builds that are made once (KW_UNITY) it
# is not, and GoogleTest and the standard library are parsed once for all of them. Where single files change, the compiler's
# cache does more, and it cannot see into precompiled headers.
if(KW_UNITY)
  file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "int main() {}\n")
  add_executable(kw_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(kw_test_headers PRIVATE kw_flags GTest::gtest_main)
  target_compile_options(kw_test_headers PRIVATE -O0)
  target_precompile_headers(kw_test_headers PRIVATE <gtest/gtest.h> <fmt/core.h> <algorithm> <chrono> <filesystem> <functional>
    <map> <memory> <optional> <random> <set> <span> <string> <string_view> <thread> <variant> <vector>)
endif()

function(kw_light_test target)
  if(KW_UNITY)
    target_compile_options(${target} PRIVATE -O0)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if("${libraries}" MATCHES "GTest::")  # whose flags the headers were parsed with
      target_precompile_headers(${target} REUSE_FROM kw_test_headers)
    endif()
  endif()
endfunction()

# Every program and library of a folder of tests/; HEAVY: those that compute a lot themselves.
function(kw_tests_of folder)
  cmake_parse_arguments(arg "HEAVY" "" "" ${ARGN})
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ${KW_UNITY} UNITY_BUILD_BATCH_SIZE ${KW_UNITY_BATCH})
      if(NOT arg_HEAVY)
        kw_light_test(${target})
      endif()
    endif()
  endforeach()
endfunction()
