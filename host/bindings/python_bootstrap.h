// A bootstrap that is a Python object, see aivops.Bootstrap.
#ifndef AIVOPS_BINDINGS_PYTHON_BOOTSTRAP_H
#define AIVOPS_BINDINGS_PYTHON_BOOTSTRAP_H

#include "bootstrap.h"

#include <nanobind/nanobind.h>

namespace aivops::bindings {

/// Takes the GIL for its calls, so the caller need not hold it.
class PythonBootstrap : public Bootstrap {
  public:
    explicit PythonBootstrap(nanobind::object object);
    ~PythonBootstrap() override;

    uint32_t rank() const override { return rank_; }
    uint32_t size() const override { return size_; }
    std::vector<std::string> all_gather(const std::string& bytes) override;
    void barrier() override;

  private:
    nanobind::object object_;
    uint32_t rank_;
    uint32_t size_;
};

} // namespace aivops::bindings

#endif // AIVOPS_BINDINGS_PYTHON_BOOTSTRAP_H
