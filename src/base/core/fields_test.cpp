#include "core/fields.h"

#include <gtest/gtest.h>

#include "core/bytes.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw {
namespace {

enum class Fruit : uint8_t { Apple, Pear };
constexpr const char* kFruitWords[] = {"apple", "pear"};

struct Shelf {
  std::string name;
  int rows = 0;
};
void fields(auto& v, Shelf& s) {
  v("name", s.name, required);
  v("rows", s.rows);
}

struct Shop {
  std::string name = "corner";
  Fruit fruit = Fruit::Apple;
  double price = 0;
  bool open = false;
  uint64_t seed = 0;
  std::optional<double> discount;
  std::vector<Shelf> shelves;
  std::map<std::string, int64_t> stock;
  std::map<int, std::string> notes;
  std::string street, owner;
};
void fields(auto& v, Shop& s) {
  v("name", s.name, required);
  v("fruit", s.fruit, kFruitWords, required);
  v("price", s.price, Zero::Null);
  v("open", s.open, Zero::Omit);
  v("seed", s.seed);
  v("discount", s.discount);
  v("shelves", s.shelves);
  v("stock", s.stock);
  v("notes", s.notes, Zero::Omit);
  v("shelf_count", computed(s.shelves.size()));
  v.group("place", [&](auto& g) { g("street", s.street); });
  v("owner", s.owner, When{s.open});
}

Shop full_shop() {
  Shop shop;
  shop.name = "market";
  shop.fruit = Fruit::Pear;
  shop.price = 2.5;
  shop.open = true;
  shop.seed = ~uint64_t{0};
  shop.discount = 0.5;
  shop.shelves = {{"left", 3}, {"right", 4}};
  shop.stock = {{"pears", 12}};
  shop.notes = {{7, "ripe"}};
  shop.street = "High";
  shop.owner = "Ann";
  return shop;
}

constexpr const char* kFullText =
    R"({"name":"market","fruit":"pear","price":2.5,"open":true,"seed":-1,"discount":0.5,)"
    R"("shelves":[{"name":"left","rows":3},{"name":"right","rows":4}],"stock":{"pears":12},)"
    R"("notes":{"7":"ripe"},"shelf_count":2,"place":{"street":"High"},"owner":"Ann"})";

Json parsed(const char* text) { return Json::parse(text).value(); }

TEST(JsonFields, WritesInTheOrderOfTheListAndReadsBack) {
  EXPECT_EQ(record_json(full_shop()).dump(), kFullText);
  const Shop back = read_record<Shop>(parsed(kFullText));
  EXPECT_EQ(record_json(back).dump(), kFullText);
  EXPECT_EQ(back.seed, ~uint64_t{0});
  EXPECT_EQ(back.fruit, Fruit::Pear);
}

TEST(JsonFields, ZeroIsWrittenAsAsked) {
  EXPECT_EQ(record_json(Shop{}).dump(),
            R"({"name":"corner","fruit":"apple","price":null,"seed":0,"discount":null,)"
            R"("shelves":[],"stock":{},"shelf_count":0,"place":{"street":""}})");
}

TEST(JsonFields, DocumentsListMembersToo) {
  JsonWriter v(Json::object().set("event", "sold"));
  v("left", -1, negative_is_null)("most", 0, negative_is_null);
  v("shelves", json_list(std::vector<int>{2, 3}, [](auto& row, int rows) { row("rows", rows); }));
  EXPECT_EQ(v.take().dump(),
            R"({"event":"sold","left":null,"most":0,"shelves":[{"rows":2},{"rows":3}]})");
  EXPECT_EQ(v.take().dump(), "{}");
}

TEST(JsonFields, AMissingMemberKeepsItsInitialValue) {
  const Shop shop = read_record<Shop>(parsed(R"({"unknown": 1, "price": 3})"));
  EXPECT_EQ(shop.name, "corner");
  EXPECT_EQ(shop.price, 3);
  EXPECT_EQ(read_record<Shop>(Json()).name, "corner");
}

TEST(JsonFields, AnotherTypeKeepsTheInitialValue) {
  const Shop shop = read_record<Shop>(
      parsed(R"({"name": 4, "fruit": "plum", "price": "dear", "discount": "half", "seed": 1.5,)"
             R"("shelves": {}, "stock": [1], "notes": {"x": "y"}, "place": 3})"));
  EXPECT_EQ(record_json(shop).dump(), record_json(Shop{}).dump());
  EXPECT_EQ(read_record<Shop>(parsed(R"({"shelves": [3, {"rows": 2}]})")).shelves.size(), 2u);
}

TEST(JsonFields, ACheckedReadNamesTheMember) {
  const auto problem = [](const char* text) {
    const Result<Shop> shop = check_record<Shop>(parsed(text));
    return shop ? std::string() : shop.error().message;
  };
  EXPECT_EQ(problem(R"({"name": "a", "fruit": "pear"})"), "");
  EXPECT_EQ(problem(R"({"fruit": "pear"})"), "'name' is missing");
  EXPECT_EQ(problem(R"({"name": 4, "fruit": "pear"})"), "'name' cannot be 4");
  EXPECT_EQ(problem(R"({"name": "a", "fruit": "plum"})"), "'fruit' cannot be \"plum\"");
  EXPECT_EQ(problem("[]"), "'name' is missing");
}

struct Parcel {
  Fruit fruit = Fruit::Apple;
  bool fragile = false;
  std::string label;
  std::vector<int32_t> sizes;
  std::optional<Shelf> shelf;
  std::vector<std::pair<std::string, int64_t>> pairs;
};
void fields(auto& v, Parcel& p) {
  v(up_to(p.fruit, Fruit::Pear), p.fragile, p.label, p.sizes, p.shelf, p.pairs);
}

struct Narrow {
  static constexpr bool kWide = false;
};
struct Wide {
  static constexpr bool kWide = true;
};

template <class Format>
void check_bytes(size_t size) {
  const Parcel sent{Fruit::Pear, true, "x", {1, -2}, Shelf{"top", 5}, {{"a", 9}}};
  const std::string bytes = record_bytes<Format>(sent);
  EXPECT_EQ(bytes.size(), size);
  Parcel got;
  ASSERT_TRUE(read_bytes<Format>(bytes, got));
  EXPECT_EQ(record_bytes<Format>(got), bytes);
  EXPECT_EQ(got.sizes, sent.sizes);
  EXPECT_EQ(got.shelf->name, "top");
  EXPECT_FALSE(read_bytes<Format>(bytes + "x", got));
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(read_bytes<Format>(std::string_view(bytes).substr(0, n), got)) << n;
  std::string bad = bytes;
  bad[0] = 2;  // no such fruit
  EXPECT_FALSE(read_bytes<Format>(bad, got));
}

TEST(Bytes, ArriveAsSentAndNothingElseIsRead) {
  check_bytes<Narrow>(1 + 1 + 9 + 16 + 1 + 11 + 4 + 8 + 9 + 8);
  check_bytes<Wide>(8 + 8 + 9 + 24 + 8 + 11 + 8 + 8 + 9 + 8);
}

TEST(Bytes, AnImpossibleLengthIsRefused) {
  Parcel got;
  EXPECT_FALSE(read_bytes<Narrow>(std::string("\1\1") + std::string(8, '\xff'), got));
}

}  // namespace
}  // namespace kw
