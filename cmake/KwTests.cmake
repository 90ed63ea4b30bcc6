# The time limit of every test, in seconds. It only ends tests that hang: a test that is slow on a busy machine has not failed.
set(KW_HANG_SECONDS 3600)

# kw_light_test(target): a test program whose own code needs no optimisation. In builds that are made once (KW_UNITY) it gets
# none, and GoogleTest and the standard library are parsed once for all of them. For builds where single files change, the
# compiler's cache saves more.
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
    if("${libraries}" MATCHES "GTest::")  # the headers were parsed with its flags
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
      set_target_properties(${target} PROPERTIES UNITY_BUILD ${KW_UNITY} UNITY_BUILD_BATCH_SIZE ${KW_TEST_BATCH})
      if(NOT arg_HEAVY)
        kw_light_test(${target})
      endif()
    endif()
  endforeach()
endfunction()

# kw_gtest(NAME PROGRAM [SHARDS N] [SAMPLE N] [FILTER F] [COST SECONDS] [LABELS ...] [ENVIRONMENT ...] [SERIAL]): a GoogleTest
# program, or the cases that F selects, as N tests of ctest; SAMPLE N: only every Nth case. A process for each case costs more than
# most cases do; a failure still names its case. A test counts as skipped if all of its cases are.
function(kw_gtest name program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SERIAL" "SHARDS;SAMPLE;FILTER;COST" "LABELS;ENVIRONMENT")
  if(arg_SAMPLE)
    list(APPEND arg_ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_SAMPLE} GTEST_SHARD_INDEX=0)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_FILTER)
    set(arg_FILTER "*")
  endif()
  if(NOT arg_COST)
    set(arg_COST 1)
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      set(test ${name}.${shard})
      list(APPEND arg_ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${shard})  # the last one counts
    endif()
    add_test(NAME ${test} COMMAND ${program} --gtest_filter=${arg_FILTER})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}" COST ${arg_COST}
      TIMEOUT ${KW_HANG_SECONDS} SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n)+$")
    if(arg_SERIAL)
      set_tests_properties(${test} PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()

# kw_optimised_first(TARGET): the linker keeps the first copy of a template or inline function, and a program's own objects come
# before all libraries. Objects of light tests are not optimised: the program would use their std::map and std::string, at half
# its speed. So the libraries go first.
function(kw_optimised_first target)
  if(KW_UNITY)
    set(files)
    foreach(module core tensor graph task kernel cuda_source emit rows scans matmul attention elements plan frontend task_formats)
      list(APPEND files $<TARGET_FILE:kw_${module}>)
    endforeach()
    target_link_options(${target} PRIVATE LINKER:--whole-archive ${files} LINKER:--no-whole-archive)
  endif()
endfunction()

# kw_long(tests...): tests that only `make test-all` runs; they get the label `long`.
function(kw_long)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS long)
  endforeach()
endfunction()

# kw_long_programs(targets...): programs that only tests with the label `long` start; only `make test-all` builds them.
add_custom_target(long_tests)
function(kw_long_programs)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    add_dependencies(long_tests ${target})
  endforeach()
endfunction()
