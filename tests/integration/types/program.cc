/* SPDX-License-Identifier: MIT */
/* Reads the containers of the C++ library, whose blocks the library allocates. The
 * program knows the addresses of the elements. */
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "truth.h"

#define NOINLINE __attribute__((noinline))

namespace market
{

struct price {
        long amount;
        int currency;
        short digits;
};

struct order {
        uint32_t id;
        price limit;
        double quantity;
};

class book
{
      public:
        explicit book(size_t count) : orders_(count), best_(0)
        {
                for (size_t i = 0; i < count; i++) {
                        orders_[i].id = (uint32_t)i;
                        orders_[i].quantity = (double)i;
                        orders_[i].limit.amount = (long)(i * 7);
                }
        }
        NOINLINE double volume() const
        {
                double sum = 0;
                for (const order &o : orders_)
                        sum += o.quantity;
                return sum;
        }
        NOINLINE long find_best()
        {
                for (size_t i = 0; i < orders_.size(); i++)
                        if (orders_[i].limit.amount > best_)
                                best_ = orders_[i].limit.amount;
                return best_;
        }
        const order *first() const
        {
                return orders_.data();
        }

      private:
        std::vector<order> orders_;
        long best_;
};

struct animal {
        virtual ~animal() = default;
        virtual int noise() const = 0;
        int age = 3;
};

struct dog : animal {
        int volume = 5;
        long barks = 7;
        NOINLINE int noise() const override
        {
                return volume + (int)barks + age;
        }
};

struct cat : animal {
        char name[16] = "tom";
        float grumpiness = 1;
        NOINLINE int noise() const override
        {
                return (int)grumpiness + age;
        }
};

} // namespace market

using market::order;
using market::price;

static volatile uint64_t result;

enum { COUNT = 400, ROUNDS = 12 };

NOINLINE static std::map<int, price> make_map()
{
        std::map<int, price> map;

        for (int i = 0; i < COUNT; i++)
                map[i * 37 % COUNT] = price{i, i, 2};
        return map;
}

ADDS_EACH(long, sum_map, (const std::map<int, price> &map), entry, map,
          entry.second.amount + entry.first)

NOINLINE static long look_up(const std::map<int, price> &map, int key)
{
        auto found = map.find(key);

        return found == map.end() ? 0 : found->second.currency;
}

NOINLINE static std::unordered_map<uint64_t, order> make_table()
{
        std::unordered_map<uint64_t, order> table;

        table.reserve(COUNT); /* so that no block is used for two purposes */
        for (uint64_t i = 0; i < COUNT; i++)
                table[i * 7919] = order{(uint32_t)i, {1, 2, 3}, 0.5};
        return table;
}

NOINLINE static double look_up(const std::unordered_map<uint64_t, order> &table,
                               uint64_t key)
{
        auto found = table.find(key);

        return found == table.end() ? 0 : found->second.quantity;
}

NOINLINE static std::vector<std::unique_ptr<market::animal>> make_animals()
{
        std::vector<std::unique_ptr<market::animal>> animals;

        for (int i = 0; i < COUNT; i++) {
                if (i % 3)
                        animals.push_back(std::make_unique<market::dog>());
                else
                        animals.push_back(std::make_unique<market::cat>());
        }
        return animals;
}

ADDS_EACH(int, hear, (const std::vector<std::unique_ptr<market::animal>> &animals),
          animal, animals, animal->noise())

NOINLINE static std::vector<std::vector<float>> make_rows()
{
        return std::vector<std::vector<float>>(64, std::vector<float>(48, 1.5f));
}

NOINLINE static float sum_rows(const std::vector<std::vector<float>> &rows)
{
        float sum = 0;

        for (const auto &row : rows)
                for (float value : row)
                        sum += value;
        return sum;
}

/* Too long to lie in the strings themselves. */
NOINLINE static void make_words(std::vector<std::string> &words)
{
        words.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                words.emplace_back(48, (char)('a' + i % 26));
}

NOINLINE static long sum_words(const std::vector<std::string> &words)
{
        long sum = 0;

        for (const auto &word : words)
                for (char letter : word)
                        sum += letter;
        return sum;
}

struct link {
        link *next;
        price paid;
};

NOINLINE static link *make_links()
{
        link *list = nullptr;

        for (int i = 0; i < COUNT; i++)
                list = new link{list, {i, 1, 2}};
        return list;
}

ADDS(long, sum_links, (const link *list), (; list; list = list->next),
     list->paid.digits + list->paid.amount)

/* ---- the truth ---- */

#define SAY(type, path, member, also)                                                    \
        truth_field(path, #member, offsetof(type, member), sizeof(((type *)0)->member),  \
                    also)

static void say_fields()
{
        SAY(price, "market::price", amount, "");
        SAY(price, "market::price", currency, "");
        SAY(price, "market::price", digits, "");
        SAY(order, "market::order", id, "");
        SAY(order, "market::order", limit.amount, "market::price:amount");
        SAY(order, "market::order", limit.currency, "market::price:currency");
        SAY(order, "market::order", quantity, "");
        SAY(struct link, "link", next, "");
        SAY(struct link, "link", paid.amount, "market::price:amount");
        SAY(struct link, "link", paid.digits, "market::price:digits");
}

/* A node of the C++ library's maps (libstdc++'s or libc++'s), with ELEMENT in it; the
 * node's type begins with NODE. Its links are not asked about here. */
static void say_node(const char *site, const void *element, size_t bytes,
                     const char *type)
{
        truth_object("heap", site, type, element, bytes, 1, "*");
}

static void say_map(const std::map<int, price> &map)
{
        const auto &first = *map.begin();
        const char *type = "std::pair<int const, market::price>";
        size_t at = (size_t)((const char *)&first.second - (const char *)&first);

        truth_field(type, "first", 0, 4,
                    "std::_Rb_tree_node<*:_M_storage.first "
                    "std::__1::__tree_node<*:__value_.__cc.first");
        truth_field(type, "second.amount", at + offsetof(price, amount), 8,
                    "market::price:amount std::_Rb_tree_node<*:_M_storage.second.amount "
                    "std::__1::__tree_node<*:__value_.__cc.second.amount");
        truth_field(type, "second.currency", at + offsetof(price, currency), 4,
                    "market::price:currency "
                    "std::_Rb_tree_node<*:_M_storage.second.currency "
                    "std::__1::__tree_node<*:__value_.__cc.second.currency");
        for (const auto &entry : map)
                say_node("make_map at ", &entry, sizeof(entry), type);
}

static void say_table(const std::unordered_map<uint64_t, order> &table)
{
        const auto &first = *table.begin();
        const char *type = "std::pair<unsigned long const, market::order>";
        size_t at = (size_t)((const char *)&first.second - (const char *)&first);

        truth_field(type, "first", 0, 8,
                    "std::__detail::_Hash_node<*:_M_storage.first "
                    "std::__1::__hash_node<*:__value_.__cc.first");
        truth_field(type, "second.quantity", at + offsetof(order, quantity), 8,
                    "market::order:quantity "
                    "std::__detail::_Hash_node<*:_M_storage.second.quantity "
                    "std::__1::__hash_node<*:__value_.__cc.second.quantity");
        for (const auto &entry : table)
                say_node("make_table at ", &entry, sizeof(entry), type);
}

int main()
{
        truth_open();
        say_fields();
        market::book book(COUNT);
        auto map = make_map();
        auto table = make_table();
        auto animals = make_animals();
        auto rows = make_rows();
        std::vector<std::string> words;
        const link *links = make_links();

        make_words(words);
        truth_object("heap", "market::book::book at ", "market::order", book.first(),
                     sizeof(order), COUNT, "*");
        say_map(map);
        say_table(table);
        for (const auto &row : rows)
                truth_object("heap", "make_rows at ", "float", row.data(), 4, 48, "*");
        for (const auto &word : words)
                truth_object("heap", "make_words at ", "char", word.data(), 1, 48,
                             "sum_words");
        for (const link *l = links; l; l = l->next)
                TRUTH_HEAP("make_links", "link", l, 1);
        for (int i = 0; i < ROUNDS; i++) {
                result += (uint64_t)(book.volume() + (double)book.find_best());
                result += (uint64_t)sum_map(map);
                for (int j = 0; j < COUNT; j++)
                        result += (uint64_t)(look_up(map, j) +
                                             (long)look_up(table, (uint64_t)j * 7919));
                result += (uint64_t)hear(animals) + (uint64_t)sum_rows(rows) +
                          (uint64_t)sum_links(links) + (uint64_t)sum_words(words);
        }
        truth_close();
        return 0;
}
