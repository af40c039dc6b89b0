# The CUDA side of the kernels: finds the toolkit once, says so in one line, and makes one fatbin a family. CMake 3.25
# ignores CUDA_FATBIN_COMPILATION and drops CUDA_STANDARD 20 for this compiler, so nvcc runs as a custom command.
# Sets FOXHUNT_HAVE_CUDA, FOXHUNT_CUDA_INCLUDE and FOXHUNT_FATBINS (one file a family, in the order of FOXHUNT_FAMILIES).
set(FOXHUNT_CUDA_ARCHITECTURES "80;86;89;90;100;120" CACHE STRING
  "compute capabilities of the fatbins; PTX of the first one serves every later GPU")

set(FOXHUNT_HAVE_CUDA OFF)
if(NOT FOXHUNT_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "FOXHUNT_CUDA is ${FOXHUNT_CUDA}; it may be AUTO, ON or OFF")
endif()
if(FOXHUNT_CUDA STREQUAL "OFF")
  message(STATUS "CUDA plugin: off (FOXHUNT_CUDA=OFF)")
else()
  find_program(FOXHUNT_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin /opt/cuda/bin)
  set(missing "")
  set(nvcc_version 0)
  if(FOXHUNT_NVCC)
    execute_process(COMMAND ${FOXHUNT_NVCC} --version OUTPUT_VARIABLE nvcc_text)
    string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" unused "${nvcc_text}")
    set(nvcc_version ${CMAKE_MATCH_1})
    if(nvcc_version VERSION_LESS 13.0)
      set(missing "CUDA 13.0 or newer (${FOXHUNT_NVCC} is ${nvcc_version})")
    endif()
    get_filename_component(nvcc_real ${FOXHUNT_NVCC} REALPATH)
    get_filename_component(toolkit ${nvcc_real} DIRECTORY)
    get_filename_component(toolkit ${toolkit} DIRECTORY)
    find_path(FOXHUNT_CUDA_INCLUDE cublasLt.h HINTS ${toolkit}/include ${toolkit}/targets/x86_64-linux/include)
    if(NOT FOXHUNT_CUDA_INCLUDE OR NOT EXISTS ${FOXHUNT_CUDA_INCLUDE}/cuda.h)
      set(missing "cuda.h and cublasLt.h of the toolkit in ${toolkit}")
    endif()
  else()
    set(missing "nvcc")
  endif()
  if(NOT missing)
    set(FOXHUNT_HAVE_CUDA ON)
    message(STATUS "CUDA plugin: on (${FOXHUNT_NVCC} ${nvcc_version}, architectures ${FOXHUNT_CUDA_ARCHITECTURES})")
  elseif(FOXHUNT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FOXHUNT_CUDA=ON needs ${missing}")
  else()
    message(STATUS "CUDA plugin: off (not found: ${missing})")
  endif()
endif()

set(FOXHUNT_FATBINS "")
if(FOXHUNT_HAVE_CUDA)
  # One nvcc at a time: each takes a core and up to a gigabyte.
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS nvcc=1)
  list(GET FOXHUNT_CUDA_ARCHITECTURES 0 first)
  set(targets "")
  foreach(architecture ${FOXHUNT_CUDA_ARCHITECTURES})
    list(APPEND targets -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(APPEND targets -gencode arch=compute_${first},code=compute_${first})
  foreach(family ${FOXHUNT_FAMILIES})
    set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${family}.fatbin)
    set(contract "")
    if(family STREQUAL environment)
      set(contract -fmad=false)  # fills must be exact
    endif()
    # Uncompressed: loading is faster, and the test finds every entry point by name.
    add_custom_command(OUTPUT ${fatbin}
      COMMAND ${FOXHUNT_NVCC} -fatbin -std=c++20 -O3 -lineinfo ${contract} --threads 1 --expt-relaxed-constexpr
        -no-compress -Werror all-warnings -diag-suppress 177 ${targets} -I ${CMAKE_SOURCE_DIR}
        -DFH_FAMILY_${family}=1 -MD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin} ${CMAKE_CURRENT_SOURCE_DIR}/emit_cuda.cu
      MAIN_DEPENDENCY emit_cuda.cu DEPFILE ${fatbin}.d JOB_POOL nvcc COMMENT "CUDA kernels: ${family}" VERBATIM)
    list(APPEND FOXHUNT_FATBINS ${fatbin})
  endforeach()
  add_custom_target(foxhunt_fatbins DEPENDS ${FOXHUNT_FATBINS})
endif()
