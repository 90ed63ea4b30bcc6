# kw_district(name SEES ...): the modules declared below it live in src/name, and depend on modules of these districts or of their own.
macro(kw_district name)
  cmake_parse_arguments(KW_DISTRICT "" "" "SEES" ${ARGN})
  set(KW_DISTRICT ${name})
  string(REPLACE ";" " " sees "${KW_DISTRICT_SEES}")
  set_property(GLOBAL APPEND_STRING PROPERTY KW_LAYERS "district ${name}: ${sees}\n")
endmacro()

# kw_module(name DEPENDS ...): DISTRICT/name/*.cpp -> kw_name. DISTRICT/name/*_test.cpp become part of the district's test program;
# ctest runs them as kw_name_test (label: name).
# A module may depend only on modules declared above it; the lines collected in KW_LAYERS feed the include fence.
# SIMD lists sources that are compiled once per x86-64 level (see kw_simd below); APART those that use the names of their
# siblings on purpose, and so are never compiled together with them; HEAVY_TESTS: its tests compute a lot themselves.
# HOT: users notice its speed, so -O2 and not -O1. GLUE: it waits for other code, so -Og, which saves a third of the build time.
function(kw_module name)
  set(district_folder ${CMAKE_CURRENT_SOURCE_DIR}/${KW_DISTRICT})
  set(folder ${district_folder}/${name})
  cmake_parse_arguments(arg "HOT;GLUE;HEAVY_TESTS" "" "DEPENDS;PRIVATE_LIBS;SIMD;APART;DEFINES" ${ARGN})
  foreach(dep IN LISTS arg_DEPENDS)
    if(NOT TARGET kw_${dep})
      message(FATAL_ERROR "${name} depends on ${dep}, which is not declared above it")
    endif()
    get_target_property(district kw_${dep} KW_DISTRICT)
    if(NOT district IN_LIST KW_DISTRICT_SEES AND NOT district STREQUAL KW_DISTRICT)
      message(FATAL_ERROR "${name} depends on ${dep}, but ${KW_DISTRICT} must not see ${district}")
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  foreach(file IN LISTS arg_SIMD)
    list(REMOVE_ITEM sources ${folder}/${file})
  endforeach()
  foreach(file IN LISTS arg_APART)
    set_source_files_properties(${folder}/${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "module ${name} has no sources")
  endif()
  add_library(kw_${name} STATIC ${sources})
  kw_position_independent(kw_${name})
  list(TRANSFORM arg_DEPENDS PREPEND kw_ OUTPUT_VARIABLE dep_targets)
  target_include_directories(kw_${name} PUBLIC ${district_folder})
  target_compile_definitions(kw_${name} PRIVATE ${arg_DEFINES})
  target_link_libraries(kw_${name} PUBLIC ${dep_targets} PRIVATE kw_flags ${arg_PRIVATE_LIBS})
  set(level 1)
  if(arg_HOT)
    set(level 2)
  elseif(arg_GLUE)
    set(level g)
  endif()
  kw_optimise(kw_${name} ${level})
  kw_simd(kw_${name} ${folder} "${dep_targets}" ${arg_SIMD})
  kw_module_tests(${name} "${tests}" "${arg_PRIVATE_LIBS}" ${arg_HEAVY_TESTS})
  set_target_properties(kw_${name} PROPERTIES UNITY_BUILD ${KW_UNITY} UNITY_BUILD_BATCH_SIZE ${KW_UNITY_BATCH}
    KW_DISTRICT ${KW_DISTRICT})
  string(REPLACE ";" " " deps "${arg_DEPENDS}")
  set_property(GLOBAL APPEND_STRING PROPERTY KW_LAYERS "${KW_DISTRICT}/${name}: ${deps}\n")
endfunction()

# The level of optimisation of a module. In builds that are made once, the standard library and fmt are parsed once for each level,
# not once for each module; for builds where single files change, the compiler's cache saves more.
function(kw_optimise target level)
  set(options -O${level})
  if(level STREQUAL g)
    list(APPEND options -Wno-maybe-uninitialized)  # false alarms
  endif()
  target_compile_options(${target} PRIVATE ${options})
  if(NOT KW_UNITY)
    return()
  endif()
  set(headers kw_headers_O${level})
  if(NOT TARGET ${headers})
    file(WRITE ${PROJECT_BINARY_DIR}/${headers}.cpp "\n")
    add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/${headers}.cpp)
    kw_position_independent(${headers})
    target_link_libraries(${headers} PRIVATE kw_flags)
    target_compile_options(${headers} PRIVATE ${options})
    target_precompile_headers(${headers} PRIVATE <fmt/core.h> <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstring>
      <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <sstream> <string>
      <string_view> <thread> <tuple> <unordered_map> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# Programs and shared libraries are linked from the same objects. Symbols are hidden unless they are marked, which
# avoids the indirections of ordinary position-independent code.
function(kw_position_independent target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# The tests of a module, as part of the test program of its district: parsing headers and linking for every module would take
# longer than most tests do. Tests that compute a lot themselves (HEAVY) have an optimised program, kw_DISTRICT_heavy_test.
function(kw_module_tests name tests libraries heavy)
  if(NOT tests)
    return()
  endif()
  set(program kw_${KW_DISTRICT}_test)
  if(heavy)
    set(program kw_${KW_DISTRICT}_heavy_test)
  endif()
  if(NOT TARGET ${program})
    add_executable(${program})
    target_link_libraries(${program} PRIVATE kw_flags GTest::gtest_main)
    target_compile_definitions(${program} PRIVATE KW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(${program} PRIVATE -O1)  # a third less build time; the tested code keeps its own level
    if(NOT heavy)
      kw_light_test(${program})
    endif()
    set_target_properties(${program} PROPERTIES UNITY_BUILD ${KW_UNITY} UNITY_BUILD_BATCH_SIZE ${KW_TEST_BATCH})
  endif()
  target_sources(${program} PRIVATE ${tests})
  target_link_libraries(${program} PRIVATE kw_${name} ${libraries})
  kw_discover(${name} ${program} "${tests}")
endfunction()

# Registers the tests of a module. Suites named Nvrtc…, Clang…, Nvcc…, Gpu…, Torch… need what their name says, and
# get it as a label (Torch… share one process: importing torch takes seconds); the rest is `fast`.
function(kw_discover name program tests)
  set(kinds Nvrtc Clang Nvcc Gpu Torch)
  set(suites "")
  foreach(source IN LISTS tests)
    file(STRINGS ${source} cases REGEX "^(TYPED_)?TEST(_F|_P|_SUITE)?\\(")
    list(TRANSFORM cases REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+).*" "\\1")
    list(APPEND suites ${cases})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  foreach(kind IN LISTS kinds)
    set(of_kind ${suites})
    list(FILTER of_kind INCLUDE REGEX "^${kind}")
    list(FILTER suites EXCLUDE REGEX "^${kind}")
    string(TOLOWER ${kind} label)
    kw_suites(kw_${name}_test.${label} ${program} "${of_kind}" COST 30 LABELS ${name} ${label})
  endforeach()
  kw_suites(kw_${name}_test ${program} "${suites}" COST 20 LABELS ${name} fast)
endfunction()

# These suites of a program as one test of ctest: plain ones, and those with parameters or types.
function(kw_suites test program suites)
  if(NOT suites)
    return()
  endif()
  list(TRANSFORM suites REPLACE "(.+)" "\\1.*:\\1/*:*/\\1.*:*/\\1/*")
  list(JOIN suites ":" filter)
  kw_gtest(${test} ${program} FILTER "${filter}" ${ARGN})
endfunction()

# Hot sources are compiled three times, for x86-64-v2, -v3 and -v4, each inside namespace KW_SIMD_LEVEL (v2, v3, v4);
# the module picks one at start. Same IEEE operations everywhere (no contraction), so results are identical.
# Level v2 is for processors older than 2013 and is less optimised, which halves its build time. Sanitized builds have v2 only.
function(kw_simd target folder dep_targets)
  set(levels v2 v3 v4)
  if(KW_SANITIZE)
    set(levels v2)
  endif()
  foreach(level IN LISTS levels)
    set(optimise -O3)
    if(level STREQUAL v2)
      set(optimise -O1)
    endif()
    set(sources ${ARGN})
    if(sources)
      list(TRANSFORM sources PREPEND ${folder}/)
      add_library(${target}_${level} OBJECT ${sources})
      kw_position_independent(${target}_${level})
      target_include_directories(${target}_${level} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${KW_DISTRICT})
      target_link_libraries(${target}_${level} PRIVATE kw_flags ${dep_targets})
      target_compile_options(${target}_${level} PRIVATE -march=x86-64-${level} ${optimise} -fno-trapping-math -fno-math-errno)
      if(level STREQUAL v4)
        target_compile_options(${target}_${level} PRIVATE -mprefer-vector-width=512)
      endif()
      target_compile_definitions(${target}_${level} PRIVATE KW_SIMD_LEVEL=${level})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${level}>)
    endif()
  endforeach()
endfunction()

# libkwclock.so of the module `clock_library` and all its dependencies. Other processes load it, so it exports only its own few
# functions and contains its own libstdc++.
function(kw_clock_library)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/kwclock.map)
  file(WRITE ${map} "{ global: kw_clock_*; local: *; };\n")
  add_library(kwclock SHARED $<TARGET_OBJECTS:kw_clock_library>)
  target_link_libraries(kwclock PRIVATE kw_clock_library kw_flags)
  target_link_options(kwclock PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -s)
  if(NOT KW_SANITIZE)  # a sanitizer's symbols come from the program that loads it
    target_link_options(kwclock PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(kwclock PROPERTIES LINK_DEPENDS ${map})
endfunction()

# libkwrecord.so: the part of CUDA's runtime that can be recorded. It exports CUDA's names, its own controls and the functions of
# the C library by which a program looks at its machine.
function(kw_recorder_library)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/kwrecord.map)
  file(WRITE ${map} "{ global: cuda*; _cu*; __cuda*; kw_record_*; getenv; secure_getenv; dl*; getauxval; local: *; };\n")
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${KW_DISTRICT}/host_recording)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/recorder/*.cpp)
  add_library(kwrecord SHARED ${sources})
  target_include_directories(kwrecord PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${KW_DISTRICT})
  target_link_libraries(kwrecord PRIVATE kw_flags)
  target_link_options(kwrecord PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -Wl,-Bsymbolic -s)
  set_target_properties(kwrecord PROPERTIES LINK_DEPENDS ${map})
endfunction()

# libkernelwright.so of one module and all its dependencies, next to the program whose workers it starts. It exports only the
# functions of its C header, and contains its own libstdc++.
function(kw_shared_library module)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/kernelwright.map)
  file(WRITE ${map} "{ global: kw_*; local: *; };\n")
  add_library(kwlibrary SHARED $<TARGET_OBJECTS:kw_${module}> ${PROJECT_SOURCE_DIR}/apps/portable.cpp)
  target_link_libraries(kwlibrary PRIVATE kw_${module} kw_flags)
  target_link_options(kwlibrary PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -s)
  if(NOT KW_SANITIZE)  # a sanitizer's symbols come from the program that loads it
    target_link_options(kwlibrary PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(kwlibrary PROPERTIES OUTPUT_NAME kernelwright LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    LINK_DEPENDS ${map})
endfunction()
