// C++ with the sysroot's standard library, and exceptions across it.
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> words{"a", "b"};
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception &) {
    std::cout << "c++ " << words.size() << std::endl;
  }
}
