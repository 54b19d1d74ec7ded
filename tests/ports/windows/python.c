/* python.exe: the interpreter is in python3xy.dll. */
#include <wchar.h>

__declspec(dllimport) int Py_Main(int count, wchar_t** words);

int wmain(int count, wchar_t** words) { return Py_Main(count, words); }
