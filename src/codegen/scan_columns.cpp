// A scan along a dim that is not the last: a thread per row, neighbouring threads in neighbouring
// rows, so that every step along the scan is one coalesced access. SPAN elements are loaded before
// any is joined.
#include <fmt/core.h>

#include "base/text.h"
#include "codegen/axis_schedules.h"
#include "codegen/scan.h"
#include "codegen/settle.h"
#include "codegen/types.h"

namespace kw::codegen {

using graph::NodeId;
using tensor::DType;

namespace {

class ColumnScan {
 public:
  explicit ColumnScan(const Region& region)
      : region_(region),
        scans_(*scans_of(region)),
        loop_(loop_of(region, scans_)),
        joining_(joining_of(region, scans_)),
        e_(region, 1) {
    e_.ranges = loop_.ranges();
    const Dim at = scans_.first->attrs.reverse ? loop_.length() - Dim(1) - variable("column")
                                               : variable("column");
    e_.rename = loop_.rename(at);
  }

  Kernel emit() {
    write_values();
    Kernel kernel;
    const std::string body = write_body();
    const Head head = head_of(e_, region_.name, "typename Index", tune("THREADS"));
    kernel.functions = e_.functions();
    kernel.source = joining_.definitions(kernel.functions, Joining::Lanes::One) + "\n" +
                    fmt::format("// {}: a thread scans a row, {} elements at a time.\n",
                                region_.stores[0].to.name, tune("SPAN")) +
                    head.text + " {\n" + body + "}\n";
    kernel.tunes.push_back({tune("THREADS"), {128, 64, 256}, ""});
    kernel.tunes.push_back({tune("SPAN"), {8, 4, 16, 1}, ""});
    kernel.methods.push_back({"memory.coalesced_access", "", ""});
    kernel.methods.push_back(
        {"compute.ilp_unroll_register_tile", tune("SPAN") + " > 1", tune("SPAN") + "=1"});
    const std::string fits = fits_int(region_);
    if (!fits.empty()) kernel.variants.push_back(variant(fits, "int", head));
    kernel.variants.push_back(variant("", fits.empty() ? "int" : "long long", head));
    return kernel;
  }

 private:
  std::string tune(const char* name) const { return name + region_.suffix; }

  Variant variant(const std::string& when, const std::string& index, const Head& head) const {
    return {when,
            {{fmt::format("{}<{}>", region_.name, index),
              fmt::format("ceil_div({}, {})", loop_.rows().text(), tune("THREADS")),
              tune("THREADS"), "", head.args}}};
  }

  void open_element() { element_scope_ = e_.open(loop_.element_variables("column"), 1, 3); }

  // Scopes: 1 is the row, 2 an element.
  void write_values() {
    e_.open(loop_.row_variables(), 0, 0);
    length_ = e_.text(loop_.length());
    e_.note(loop_.rows());
    open_element();
    const Value in = e_.value(scans_.input, loop_.index());
    const std::string place =
        scans_.first->attrs.reverse ? fmt::format("{} - 1 - column", length_) : "column";
    e_.at(element_scope_)
        .line(fmt::format("own[step] = {};",
                          joining_.of(converted(region_, scans_, joining_, in), place)));
    in_ = e_.close();
    open_element();
    e_.on_node = [this](NodeId id, const Index&) { return scanned(id); };
    for (const Store& store : region_.stores) {
      const Value value = e_.value(store.node, loop_.index());
      e_.touch(store.to);
      if (store.to.dtype == DType::E8m0) e_.need("to_exponent");
      const std::string address = e_.text(linear(store.to.shape, loop_.index()));
      e_.at(element_scope_)
          .line(fmt::format("{}[{}] = {};", store.to.name, address,
                            e_.stored(value, store.to.dtype)));
    }
    out_ = e_.close();
    row_ = e_.close();
  }

  std::optional<Value> scanned(NodeId id) const {
    if (scans_.nodes.count(id) == 0) return std::nullopt;
    if (is_place(region_.node(id).op))
      return Value{{fmt::format("static_cast<long long>({})", joining_.place("now"))},
                   element_scope_};
    return Value{{joining_.value("now")}, element_scope_};
  }

  std::string write_body() {
    CudaWriter w(1);
    w.raw(e_.at(0).text());
    w.line(fmt::format("const Index row = static_cast<Index>(blockIdx.x) * {} + threadIdx.x;",
                       tune("THREADS")));
    w.line(fmt::format("if (row >= {}) return;", loop_.rows().text()));
    loop_.write_row(e_, w);
    w.raw(row_);
    w.line(fmt::format("{} carry = {};", joining_.type(), joining_.identity()));
    {
      const auto loop = w.block(
          fmt::format("for (Index start = 0; start < {}; start += {})", length_, tune("SPAN")));
      w.line(fmt::format("{} own[{}];", joining_.type(), tune("SPAN")));
      write_elements(w, [&] { w.raw(in_); });
      write_elements(w, [&] { write_step(w); });
    }
    return w.text();
  }

  void write_step(CudaWriter& w) {
    const std::string now = fmt::format("const {} now = carry;", joining_.type());
    if (scans_.first->attrs.exclusive) w.line(now);
    w.line(fmt::format("carry = {};", joining_.join("carry", "own[step]")));
    if (!scans_.first->attrs.exclusive) w.line(now);
    w.raw(out_);
  }

  void write_elements(CudaWriter& w, const std::function<void()>& body) {
    w.line("#pragma unroll");
    const auto loop = w.block(fmt::format("for (int step = 0; step < {}; ++step)", tune("SPAN")));
    w.line("const Index column = start + step;");
    const auto inside = w.block(fmt::format("if (column < {})", length_));
    body();
  }

  const Region& region_;
  Scans scans_;
  RowLoop loop_;
  Joining joining_;
  Emitter e_;
  int element_scope_ = 0;
  std::string length_, in_, out_, row_;
};

}  // namespace

bool scan_columns_applies(const Region& region, const Situation&) {
  const auto scans = scans_of(region);
  return scans && loop_of(region, *scans).rows_are_adjacent();
}

Kernel scan_columns_emit(const Region& region, const Situation& situation) {
  Kernel kernel = ColumnScan(region).emit();
  settle(kernel, situation);
  return kernel;
}

}  // namespace kw::codegen
