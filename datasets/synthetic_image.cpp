// SPDX-License-Identifier: Apache-2.0
// How one synthetic image is drawn. All in integers: lengths in sixteenths of a pixel, and inside a shape in
// 1024ths of its radius. No sine, no square root, no floating point, whose last bits differ between machines.
#include <algorithm>

#include "numbers/random.h"
#include "synthetic.h"

namespace odori::synthetic {
namespace {

constexpr int side = Example::side;
constexpr int pixel = 16;   // lengths in the image: sixteenths of a pixel
constexpr int one = 1024;   // lengths in a shape: 1024ths of its radius
constexpr int samples = 4;  // 4 x 4 points a pixel decide how much of it a shape covers

using Color = std::array<int, 3>;

struct Vector {
  int x, y;
};

/// A shape's place: its centre, and the vector from the centre to where its own first axis ends. One vector is both
/// size and direction.
struct Pose {
  Vector center, axis;
  int radius2() const { return axis.x * axis.x + axis.y * axis.y; }
};

/// An integer of [low, high].
int between(RandomSequence& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

/// A vector of random direction whose length lies in [shortest, longest] (rejection from the square).
Vector random_vector(RandomSequence& random, int shortest, int longest) {
  for (;;) {
    const Vector v{between(random, -longest, longest), between(random, -longest, longest)};
    const int length2 = v.x * v.x + v.y * v.y;
    if (length2 >= shortest * shortest && length2 <= longest * longest) return v;
  }
}

/// Any colour whose three values are at most `brightest`.
Color random_color(RandomSequence& random, int brightest = 255) {
  return {between(random, 0, brightest), between(random, 0, brightest), between(random, 0, brightest)};
}

int brightness(const Color& color) { return color[0] + color[1] + color[2]; }

/// In a shape's own frame, u to the right and v upwards: is the point (u, v) inside? Every shape lies in the disc of
/// radius `one`.
bool in_disc(int u, int v, int radius) { return u * u + v * v <= radius * radius; }

bool in_square(int u, int v, int half) { return std::abs(u) <= half && std::abs(v) <= half; }

/// Equilateral, one corner at the top (0, one). 1774 / 1024 = sqrt(3).
bool in_triangle(int u, int v) { return v >= -one / 2 && one * v + 1774 * std::abs(u) <= one * one; }

bool in_cross(int u, int v) {
  const int narrow = std::min(std::abs(u), std::abs(v)), wide = std::max(std::abs(u), std::abs(v));
  return narrow <= 290 && wide <= 960;
}

/// A pentagram: inside at least four of the five half-planes that bound its inner pentagon, whose inner radius is
/// cos 72 degrees = 316 / 1024 of the star's.
bool in_star(int u, int v) {
  constexpr std::array<Vector, 5> normals{{{0, 1024}, {974, 316}, {602, -828}, {-602, -828}, {-974, 316}}};
  const auto is_inside = [&](Vector n) { return n.x * u + n.y * v <= 316 * one; };
  return std::ranges::count_if(normals, is_inside) >= 4;
}

/// (x^2 + y^2 - 1)^3 <= x^2 y^3, shrunk and moved into the disc.
bool in_heart(int u, int v) {
  const std::int64_t x = u * 5 / 4, y = v * 5 / 4 + 100;
  const std::int64_t x2 = x * x / one, y2 = y * y / one, s = x2 + y2 - one;
  return s * s / one * s <= x2 * y2 / one * y;
}

bool inside(int label, int u, int v) {
  constexpr int half = 724;  // of a square whose corners lie on the disc: 1024 / sqrt(2)
  switch (label) {
    case 0:
      return in_disc(u, v, 880);
    case 1:
      return in_disc(u, v, 960) && !in_disc(u, v, 560);
    case 2:
      return in_square(u, v, half);
    case 3:
      return in_triangle(u, v);
    case 4:
      return in_cross(u, v);
    case 5:
      return in_star(u, v);
    case 6:
      return in_disc(u, v, 960) && !in_disc(u - 420, v, 720);
    case 7:
      return in_heart(u, v);
    case 8:
      return in_square(u, v, half) && (u + half) * 5 / (2 * half) % 2 == 0;
    default:
      return in_square(u, v, half) && ((u + half) * 4 / (2 * half) + (v + half) * 4 / (2 * half)) % 2 == 0;
  }
}

/// The image while it is being drawn.
using Canvas = std::array<Color, side * side>;

/// From one colour to another along a random direction.
Canvas gradient(const Color& from, const Color& to, RandomSequence& random) {
  const Vector direction = random_vector(random, 64, 128);
  const int reach = side * (std::abs(direction.x) + std::abs(direction.y));
  Canvas canvas;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int t = (2 * x - side + 1) * direction.x + (2 * y - side + 1) * direction.y + reach;  // 0 .. 2 reach
      for (int c = 0; c < 3; ++c) canvas[y * side + x][c] = from[c] + (to[c] - from[c]) * t / (2 * reach);
    }
  return canvas;
}

/// Paints where is_inside(u, v) holds, each pixel by the share of its points that are inside.
template <typename Inside>
void paint(Canvas& canvas, const Pose& pose, const Color& color, Inside is_inside) {
  const int radius2 = pose.radius2();
  const int reach = std::abs(pose.axis.x) + std::abs(pose.axis.y);  // not less than the radius
  const auto first = [&](int center) { return std::max(0, (center - reach) / pixel); };
  const auto last = [&](int center) { return std::min(side - 1, (center + reach) / pixel); };
  for (int y = first(pose.center.y); y <= last(pose.center.y); ++y)
    for (int x = first(pose.center.x); x <= last(pose.center.x); ++x) {
      int covered = 0;
      for (int s = 0; s < samples * samples; ++s) {
        constexpr int step = pixel / samples;
        const int dx = x * pixel + s % samples * step + step / 2 - pose.center.x;
        const int dy = y * pixel + s / samples * step + step / 2 - pose.center.y;
        if (dx * dx + dy * dy > radius2) continue;
        covered += is_inside((dx * pose.axis.x + dy * pose.axis.y) * one / radius2,
                             (dx * pose.axis.y - dy * pose.axis.x) * one / radius2);
      }
      Color& p = canvas[y * side + x];
      for (int c = 0; c < 3; ++c) p[c] += (color[c] - p[c]) * covered / (samples * samples);
    }
}

Pose random_pose(RandomSequence& random, int margin, int smallest, int largest) {
  const Vector center{between(random, margin, side * pixel - margin), between(random, margin, side * pixel - margin)};
  return {center, random_vector(random, smallest, largest)};
}

/// Small bars of any colour, behind the shape: edges that mean nothing.
void scatter_bars(Canvas& canvas, RandomSequence& random) {
  const int bars = between(random, 0, 4);
  for (int i = 0; i < bars; ++i) {
    const Pose pose = random_pose(random, 0, 2 * pixel, 6 * pixel);
    paint(canvas, pose, random_color(random), [](int u, int v) { return std::abs(u) <= 900 && std::abs(v) <= 350; });
  }
}

std::uint8_t clamp_to_byte(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

int label_of(std::uint64_t seed, std::uint32_t split_bit, std::uint32_t number) {
  RandomSequence random(seed, RandomUse::synthetic_data, (number / 10) | split_bit | 1u << 30);
  return static_cast<int>(random_permutation(class_names.size(), random)[number % 10]);
}

}  // namespace

Record draw(std::uint64_t seed, Split split, std::uint32_t number) {
  const std::uint32_t split_bit = static_cast<std::uint32_t>(split) << 31;
  RandomSequence random(seed, RandomUse::synthetic_data, number | split_bit);
  Record record;
  record[0] = static_cast<std::uint8_t>(label_of(seed, split_bit, number));

  constexpr int brightest_background = 166, smallest = 7 * pixel, largest = 11 * pixel;
  const Color from = random_color(random, brightest_background), to = random_color(random, brightest_background);
  Canvas canvas = gradient(from, to, random);
  scatter_bars(canvas, random);

  // The shape is lighter than what is behind it: of any colour and darker ones too, two epochs wouldn't do.
  const int needed = std::max(brightness(from), brightness(to)) + 150;
  Color color = random_color(random);
  while (brightness(color) < needed) color = random_color(random);
  Pose pose = random_pose(random, 10 * pixel, smallest, largest);
  while (5 * std::abs(pose.axis.y) > 3 * pose.axis.x)
    pose.axis = random_vector(random, smallest, largest);  // 31 degrees
  paint(canvas, pose, color, [&](int u, int v) { return inside(record[0], u, v); });

  const int noise = between(random, 0, 40);
  for (int i = 0; i < side * side; ++i) {
    const std::uint32_t bits = random.next();
    for (int c = 0; c < 3; ++c) {
      const int deviation = static_cast<int>(bits >> 8 * c & 255) * 2 - 255;  // -255 .. 255
      record[1 + c * side * side + i] = clamp_to_byte(canvas[i][c] + deviation * noise / 255);
    }
  }
  return record;
}

}  // namespace odori::synthetic
