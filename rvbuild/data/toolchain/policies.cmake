# Read at the end of every project(). The interpreter answers for the target, so FindPython may ask it
# through the emulator; without this policy it never asks when crossing, and modules lose their suffix.
if(POLICY CMP0190)
  cmake_policy(SET CMP0190 NEW)
endif()
