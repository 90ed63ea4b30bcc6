#include "case.h"

#include "core/check.h"
#include "core/text.h"

namespace kw::corpus {

std::string Setting::text() const {
  std::vector<std::string> words;
  for (const auto& [name, value] : dims) words.push_back(name + "=" + std::to_string(value));
  for (const auto& [name, value] : tunes) words.push_back(name + "=" + std::to_string(value));
  for (const auto& [name, value] : scalars) words.push_back(name + "=" + std::to_string(value));
  for (const auto& [name, value] : integer_scalars)
    words.push_back(name + "=" + std::to_string(value));
  for (const auto& name : absent) words.push_back("without " + name);
  return join(words, " ");
}

std::vector<Setting> sweep(const std::string& dim, const std::vector<int64_t>& values) {
  std::vector<Setting> settings;
  for (int64_t value : values) settings.push_back({.dims = {{dim, value}}});
  return settings;
}

std::vector<Setting> rows(const std::vector<std::string>& dims,
                          const std::vector<std::vector<int64_t>>& values) {
  std::vector<Setting> settings;
  for (const auto& row : values) {
    KW_CHECK(row.size() == dims.size(), "a row names every dim");
    Setting setting;
    for (size_t i = 0; i < dims.size(); ++i) setting.dims[dims[i]] = row[i];
    settings.push_back(std::move(setting));
  }
  return settings;
}

uint64_t Random::bits() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int64_t Random::integer(int64_t low, int64_t high) {
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? bits() : bits() % span));
}

double Random::real(double low, double high) {
  return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
}

Case::Case(const kernel::Module& module, const kernel::Program& program, const Setting& setting,
           uint64_t seed)
    : module_(module), setting_(setting), buffers_(program.buffers), random_(seed) {
  for (const kernel::Buffer& buffer : buffers_) {
    auto made = tensor::make_tensor(buffer.dtype, buffer.shape);
    KW_CHECK(made.has_value(), "corpus tensors are small");
    const bool read = buffer.role == kernel::Role::Input || buffer.role == kernel::Role::Inout;
    expected_.push_back(*made);
    if (read && buffer.present) fill_default(*made);
    inputs_.push_back(std::move(made).value());
  }
}

int64_t Case::dim(const std::string& name) const {
  const auto found = setting_.dims.find(name);
  KW_CHECK(found != setting_.dims.end(), "no dim " + name);
  return found->second;
}

double Case::scalar(const std::string& name) const {
  if (const auto found = setting_.scalars.find(name); found != setting_.scalars.end())
    return found->second;
  const kernel::ScalarDecl* decl = module_.find_scalar(name);
  KW_CHECK(decl != nullptr && decl->value.has_value(), "no scalar " + name);
  return *decl->value;
}

int64_t Case::integer_scalar(const std::string& name) const {
  if (const auto found = setting_.integer_scalars.find(name);
      found != setting_.integer_scalars.end())
    return found->second;
  const kernel::ScalarDecl* decl = module_.find_scalar(name);
  KW_CHECK(decl != nullptr && decl->integer.has_value(), "no integer scalar " + name);
  return *decl->integer;
}

bool Case::has(const std::string& input) const { return buffers_[index(input)].present; }

int64_t Case::tune(const std::string& name) const {
  if (const auto found = setting_.tunes.find(name); found != setting_.tunes.end())
    return found->second;
  const kernel::TuneDecl* decl = module_.find_tune(name);
  KW_CHECK(decl != nullptr, "no tunable " + name);
  return decl->values.front();
}

double Case::get(const std::string& input, int64_t element) const {
  return tensor::get_element(inputs_[index(input)], element);
}

void Case::set(const std::string& output, int64_t element, double value) {
  tensor::set_element(expected_[index(output)], element, value);
}

double Case::expected_at(const std::string& output, int64_t element) const {
  return tensor::get_element(expected_[index(output)], element);
}

int64_t Case::size(const std::string& tensor) const {
  int64_t count = 1;
  for (int64_t extent : buffers_[index(tensor)].shape) count *= extent;
  return count;
}

void Case::fill_real(const std::string& input, double low, double high) {
  tensor::HostTensor& tensor = inputs_[index(input)];
  for (int64_t i = 0; i < size(input); ++i) tensor::set_element(tensor, i, random_.real(low, high));
}

void Case::fill_integer(const std::string& input, int64_t low, int64_t high) {
  tensor::HostTensor& tensor = inputs_[index(input)];
  for (int64_t i = 0; i < size(input); ++i)
    tensor::set_element(tensor, i, static_cast<double>(random_.integer(low, high)));
}

void Case::scale(const std::string& input, double by) {
  tensor::HostTensor& tensor = inputs_[index(input)];
  for (int64_t i = 0; i < size(input); ++i)
    tensor::set_element(tensor, i, tensor::get_element(tensor, i) * by);
}

size_t Case::index(const std::string& name) const {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].name == name) return i;
  KW_CHECK(false, "no tensor " + name);
  return 0;
}

void Case::fill_default(tensor::HostTensor& tensor) {
  const int size = tensor::dtype_size(tensor.dtype);
  const int64_t count = static_cast<int64_t>(tensor.data.size()) / size;
  if (tensor::is_unsigned_int(tensor.dtype)) {
    for (std::byte& b : tensor.data) b = static_cast<std::byte>(random_.bits());
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    double value;
    if (tensor::is_float(tensor.dtype)) {
      value = random_.real(-4, 4);
    } else if (tensor::is_signed_int(tensor.dtype)) {
      value = static_cast<double>(random_.integer(-100, 100));
    } else {
      value = static_cast<double>(random_.integer(0, 1));
    }
    tensor::set_element(tensor, i, value);
  }
}

}  // namespace kw::corpus
