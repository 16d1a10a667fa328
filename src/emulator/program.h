// `stet emulator`: the emulator as a program of its own.
#pragma once

namespace stet::emulator {

/// `argv[0]` is "emulator". Runs until SIGINT or SIGTERM and returns 0; 1 when the script, the port
/// or a file is at fault, 2 for wrong usage. Must be called before any other thread is started.
int EmulatorMain(int argc, const char* const* argv);

}  // namespace stet::emulator
