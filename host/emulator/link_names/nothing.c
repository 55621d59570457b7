// A library that is only named; see CMakeLists.txt.
