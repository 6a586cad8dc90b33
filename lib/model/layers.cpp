// SPDX-License-Identifier: Apache-2.0
#include "model/layers.h"

#include <functional>

#include "errors/error.h"

namespace odori {
namespace {

class Convolution : public Layer {
 public:
  Convolution(std::string name, const ConvolutionSpec& spec) : name_(std::move(name)), spec_(spec) {}

  Shape output(const Shape& x) const override {
    require(x.h + 2 * spec_.padding >= spec_.kernel && x.w + 2 * spec_.padding >= spec_.kernel,
            "{}: a {}x{} kernel doesn't fit images of {}x{}. Give a larger --image-size.", name_, spec_.kernel,
            spec_.kernel, x.h, x.w);
    return spec_.output(x);
  }
  std::vector<ParameterRequest> parameters(const Shape& x) const override {
    return {{name_ + "/W",
             {spec_.out_channels, x.c, spec_.kernel, spec_.kernel},
             ParameterKind::convolution_weight,
             Initializer::lecun_normal}};
  }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& views) const override {
    return graph.convolution(x, spec_, views[0]);
  }

 private:
  std::string name_;
  ConvolutionSpec spec_;
};

class BatchNormalization : public Layer {
 public:
  BatchNormalization(std::string name, const BatchNormalizationSpec& spec) : name_(std::move(name)), spec_(spec) {}

  Shape output(const Shape& x) const override { return x; }
  std::vector<ParameterRequest> parameters(const Shape& x) const override {
    const Shape vector{1, x.c, 1, 1};
    const auto kind = ParameterKind::vector;
    return {{name_ + "/gamma", vector, kind, Initializer::one},
            {name_ + "/beta", vector, kind, Initializer::zero},
            {name_ + "/avg_mean", vector, kind, Initializer::zero, false},
            {name_ + "/avg_var", vector, kind, Initializer::one, false}};
  }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& v) const override {
    return graph.batch_normalization(x, spec_, {v[0], v[1], v[2], v[3]});
  }

 private:
  std::string name_;
  BatchNormalizationSpec spec_;
};

/// An operation without parameters, whose output has the shape of its input.
class WithoutParameters : public Layer {
 public:
  using Operation = std::function<Tensor(Graph&, Tensor)>;
  explicit WithoutParameters(Operation operation) : operation_(std::move(operation)) {}
  Shape output(const Shape& x) const override { return x; }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>&) const override {
    return operation_(graph, x);
  }

 private:
  Operation operation_;
};

class Bias : public Layer {
 public:
  explicit Bias(std::string name) : name_(std::move(name)) {}
  Shape output(const Shape& x) const override { return x; }
  std::vector<ParameterRequest> parameters(const Shape& x) const override {
    return {{name_ + "/b", {1, x.c, 1, 1}, ParameterKind::vector, Initializer::zero}};
  }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& views) const override {
    return graph.bias(x, views[0]);
  }

 private:
  std::string name_;
};

class MaxPooling : public Layer {
 public:
  MaxPooling(int kernel, bool leave_out) : spec_{kernel, kernel}, leave_out_(leave_out) {}
  Shape output(const Shape& x) const override {
    require((leave_out_ && x.h >= spec_.kernel && x.w >= spec_.kernel) ||
                (x.h % spec_.kernel == 0 && x.w % spec_.kernel == 0),
            "{}x{} max pooling needs a height and width that divide by {}, but gets {}x{}. Give an "
            "--image-size that is a multiple of 32.",
            spec_.kernel, spec_.kernel, spec_.kernel, x.h, x.w);
    return spec_.output(x);
  }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>&) const override {
    return graph.max_pooling(x, spec_);
  }

 private:
  PoolingSpec spec_;
  bool leave_out_;
};

class Linear : public Layer {
 public:
  Linear(std::string name, int out, bool bias) : name_(std::move(name)), out_(out), bias_(bias) {}

  Shape output(const Shape& x) const override { return {x.n, out_, 1, 1}; }
  std::vector<ParameterRequest> parameters(const Shape& x) const override {
    std::vector<ParameterRequest> requests{
        {name_ + "/W", {out_, x.features(), 1, 1}, ParameterKind::linear_weight, Initializer::lecun_normal}};
    if (bias_) requests.push_back({name_ + "/b", {1, out_, 1, 1}, ParameterKind::vector, Initializer::zero});
    return requests;
  }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& views) const override {
    return graph.linear(x, out_, views[0], bias_ ? &views[1] : nullptr);
  }

 private:
  std::string name_;
  int out_;
  bool bias_;
};

}  // namespace

std::unique_ptr<Layer> convolution(const std::string& name, int out_channels, int kernel, int padding) {
  return std::make_unique<Convolution>(name, ConvolutionSpec{out_channels, kernel, 1, padding});
}
std::unique_ptr<Layer> batch_normalization(const std::string& name, bool relu) {
  return std::make_unique<BatchNormalization>(name, BatchNormalizationSpec{.relu = relu});
}
std::unique_ptr<Layer> batch_normalization(const std::string& name, const BatchNormalizationSpec& spec) {
  return std::make_unique<BatchNormalization>(name, spec);
}
std::unique_ptr<Layer> relu() {
  return std::make_unique<WithoutParameters>([](Graph& graph, Tensor x) { return graph.relu(x); });
}
std::unique_ptr<Layer> gelu() {
  return std::make_unique<WithoutParameters>([](Graph& graph, Tensor x) { return graph.gelu(x); });
}
std::unique_ptr<Layer> bias(const std::string& name) { return std::make_unique<Bias>(name); }
std::unique_ptr<Layer> max_pooling(int kernel, bool leave_out) {
  return std::make_unique<MaxPooling>(kernel, leave_out);
}
std::unique_ptr<Layer> dropout(float ratio) {
  return std::make_unique<WithoutParameters>([ratio](Graph& graph, Tensor x) { return graph.dropout(x, ratio); });
}
std::unique_ptr<Layer> linear(const std::string& name, int out, bool bias) {
  return std::make_unique<Linear>(name, out, bias);
}
std::unique_ptr<Layer> logits(const LogitsSpec& spec) {
  return std::make_unique<WithoutParameters>([spec](Graph& graph, Tensor x) { return graph.logits(x, spec); });
}

}  // namespace odori
