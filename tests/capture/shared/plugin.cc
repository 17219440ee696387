// SPDX-License-Identifier: MIT
// plugin.cc - a plug-in that brings its C++ library for itself

extern "C" void
plugin_run()
{
	delete new int;
	delete[] new char[77777];
}
