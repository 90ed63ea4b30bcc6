# kw_module(name DEPENDS ...): src/name/*.cpp -> kw_name, src/name/*_test.cpp -> kw_name_test (ctest label: name).
# A module may depend only on modules declared above it; the lines collected in KW_LAYERS feed the include fence.
# SIMD lists sources that are compiled once per x86-64 level (see kw_simd below); APART those that use the names of their
# siblings on purpose, and so are never compiled together with them; HEAVY_TESTS: its tests compute a lot themselves.
function(kw_module name)
  cmake_parse_arguments(arg "HEAVY_TESTS" "" "DEPENDS;PRIVATE_LIBS;SIMD;APART;DEFINES" ${ARGN})
  foreach(dep IN LISTS arg_DEPENDS)
    if(NOT TARGET kw_${dep})
      message(FATAL_ERROR "${name} depends on ${dep}, which is not declared above it")
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  foreach(file IN LISTS arg_SIMD)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${file})
  endforeach()
  foreach(file IN LISTS arg_APART)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${name}/${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "module ${name} has no sources")
  endif()
  add_library(kw_${name} STATIC ${sources})
  kw_position_independent(kw_${name})
  list(TRANSFORM arg_DEPENDS PREPEND kw_ OUTPUT_VARIABLE dep_targets)
  target_include_directories(kw_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(kw_${name} PRIVATE ${arg_DEFINES})
  target_link_libraries(kw_${name} PUBLIC ${dep_targets} PRIVATE kw_flags ${arg_PRIVATE_LIBS})
  kw_simd(kw_${name} ${name} "${dep_targets}" ${arg_SIMD})
  if(tests)
    add_executable(kw_${name}_test ${tests})
    target_link_libraries(kw_${name}_test PRIVATE kw_${name} kw_flags GTest::gtest_main ${arg_PRIVATE_LIBS})
    target_compile_definitions(kw_${name}_test PRIVATE KW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(kw_${name}_test PRIVATE -O1)  # a third less build time; what they test keeps -O2
    if(NOT arg_HEAVY_TESTS)
      kw_light_test(kw_${name}_test)
    endif()
    kw_discover(kw_${name}_test ${name})
    set_target_properties(kw_${name}_test PROPERTIES UNITY_BUILD ${KW_UNITY} UNITY_BUILD_BATCH_SIZE ${KW_UNITY_BATCH})
  endif()
  set_target_properties(kw_${name} PROPERTIES UNITY_BUILD ${KW_UNITY} UNITY_BUILD_BATCH_SIZE ${KW_UNITY_BATCH})
  string(REPLACE ";" " " deps "${arg_DEPENDS}")
  set_property(GLOBAL APPEND_STRING PROPERTY KW_LAYERS "${name}: ${deps}\n")
endfunction()

# Programs and shared libraries are linked from the same objects. Nothing is visible outside unless it says so, which
# spares the detours of ordinary position-independent code.
function(kw_position_independent target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Registers a GoogleTest program with ctest. Suites named Nvrtc…, Clang…, Nvcc…, Gpu… get that label; the rest is `fast`.
# Suites named Torch… are one test together: importing torch takes seconds, and they share the process that did. In builds
# that are made once the fast ones are one test, too: a process for each of thousands of cases takes longer than the cases.
function(kw_discover target label)
  set(common NO_PRETTY_VALUES DISCOVERY_TIMEOUT ${KW_HANG_SECONDS})
  set(fast "-Nvrtc*:*/Nvrtc*:Clang*:*/Clang*:Nvcc*:*/Nvcc*:Gpu*:*/Gpu*:Torch*:*/Torch*")
  if(KW_UNITY)
    add_test(NAME ${target} COMMAND ${target} --gtest_filter=${fast})
    set_tests_properties(${target} PROPERTIES LABELS "${label};fast" COST 20)
  else()
    gtest_discover_tests(${target} ${common} TEST_FILTER "${fast}" PROPERTIES LABELS "${label};fast")
  endif()
  foreach(kind Nvrtc Clang Nvcc Gpu)
    string(TOLOWER ${kind} kind_label)
    gtest_discover_tests(${target} ${common} TEST_FILTER "${kind}*:*/${kind}*"
      PROPERTIES LABELS "${label};${kind_label}")
  endforeach()
  get_target_property(sources ${target} SOURCES)
  if("${sources}" MATCHES "torch[a-z_]*_test\\.cpp")
    add_test(NAME ${target}.torch COMMAND ${target} --gtest_filter=Torch*:*/Torch*)
    set_tests_properties(${target}.torch PROPERTIES LABELS "${label};torch" COST 60
      SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endif()
endfunction()

# Hot sources are compiled three times, for x86-64-v2, -v3 and -v4, each inside namespace KW_SIMD_LEVEL (v2, v3, v4);
# the module picks one at start. Same IEEE operations everywhere (no contraction), so results are identical.
# Sanitized builds have v2 only, and less optimised: each of these sources would take minutes.
function(kw_simd target folder dep_targets)
  set(levels v2 v3 v4)
  set(optimise -O3)
  if(KW_SANITIZE)
    set(levels v2)
    set(optimise -O1)
  endif()
  foreach(level IN LISTS levels)
    set(sources ${ARGN})
    if(sources)
      list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/)
      add_library(${target}_${level} OBJECT ${sources})
      kw_position_independent(${target}_${level})
      target_include_directories(${target}_${level} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
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

# libkwclock.so of the module `capi` and all it stands on. It is loaded into foreign processes, so it shows them nothing
# but its own few functions and brings its own libstdc++.
function(kw_clock_library)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/kwclock.map)
  file(WRITE ${map} "{ global: kw_clock_*; local: *; };\n")
  add_library(kwclock SHARED $<TARGET_OBJECTS:kw_capi>)
  target_link_libraries(kwclock PRIVATE kw_capi kw_flags)
  target_link_options(kwclock PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -s)
  if(NOT KW_SANITIZE)  # whose symbols come from the program that loads it
    target_link_options(kwclock PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(kwclock PROPERTIES LINK_DEPENDS ${map})
endfunction()

# libkwrecord.so: CUDA's runtime as far as it can be recorded. It shows CUDA's names and its own controls.
function(kw_recorder_library)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/kwrecord.map)
  file(WRITE ${map} "{ global: cuda*; _cu*; __cuda*; kw_record_*; local: *; };\n")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/captive/recorder/*.cpp)
  add_library(kwrecord SHARED ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/captive/confine.cpp)
  target_include_directories(kwrecord PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(kwrecord PRIVATE kw_flags)
  target_link_options(kwrecord PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -Wl,-Bsymbolic -s)
  set_target_properties(kwrecord PROPERTIES LINK_DEPENDS ${map})
endfunction()

# libkernelwright.so of one module and all it stands on, beside the program whose workers it starts. It shows nothing but
# the functions of its C header, and brings its own libstdc++.
function(kw_shared_library module)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/kernelwright.map)
  file(WRITE ${map} "{ global: kw_*; local: *; };\n")
  add_library(kwlibrary SHARED $<TARGET_OBJECTS:kw_${module}> ${PROJECT_SOURCE_DIR}/apps/portable.cpp)
  target_link_libraries(kwlibrary PRIVATE kw_${module} kw_flags)
  target_link_options(kwlibrary PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -s)
  if(NOT KW_SANITIZE)  # whose symbols come from the program that loads it
    target_link_options(kwlibrary PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(kwlibrary PROPERTIES OUTPUT_NAME kernelwright LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    LINK_DEPENDS ${map})
endfunction()
