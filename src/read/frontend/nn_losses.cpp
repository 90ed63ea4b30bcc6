// The modules of torch.nn for losses, recurrent cells and bags of embeddings.
#include "frontend/nn_modules.h"

namespace kw::frontend {
namespace {

constexpr const char* kPlainInit = "size_average=None, reduce=None, reduction='mean'";
constexpr const char* kPlainArguments =
    "size_average=size_average, reduce=reduce, reduction=reduction";
constexpr const char* kMargin = "margin=0.0, size_average=None, reduce=None, reduction='mean'";
constexpr const char* kMarginArguments =
    "margin=margin, size_average=size_average, reduce=reduce, reduction=reduction";
constexpr const char* kWeightedArguments =
    "weight=weight, size_average=size_average, reduce=reduce, reduction=reduction";
constexpr const char* kCellArguments = "w_ih=weight_ih, w_hh=weight_hh, b_ih=bias_ih, b_hh=bias_hh";

std::vector<StateRow> cell_state(const char* input, const char* hidden, const char* bias) {
  return {{"weight_ih", input},
          {"weight_hh", hidden},
          {"bias_ih", bias, "bias"},
          {"bias_hh", bias, "bias"}};
}

std::vector<ModuleRow> distance_losses() {
  return {
      {"MSELoss", kPlainInit, {}, "F.mse_loss", kPlainArguments},
      {"L1Loss", kPlainInit, {}, "F.l1_loss", kPlainArguments},
      {"SmoothL1Loss",
       "size_average=None, reduce=None, reduction='mean', beta=1.0",
       {},
       "F.smooth_l1_loss",
       "size_average=size_average, reduce=reduce, reduction=reduction, beta=beta"},
      {"HuberLoss",
       "reduction='mean', delta=1.0",
       {},
       "F.huber_loss",
       "reduction=reduction, delta=delta"},
      {"KLDivLoss",
       "size_average=None, reduce=None, reduction='mean', log_target=False",
       {},
       "F.kl_div",
       "size_average=size_average, reduce=reduce, reduction=reduction, log_target=log_target"},
      {"BCELoss",
       "weight=None, size_average=None, reduce=None, reduction='mean'",
       {},
       "F.binary_cross_entropy",
       kWeightedArguments},
      {"BCEWithLogitsLoss",
       "weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None",
       {},
       "F.binary_cross_entropy_with_logits",
       "weight=weight, size_average=size_average, reduce=reduce, reduction=reduction, "
       "pos_weight=pos_weight"},
      {"PoissonNLLLoss",
       "log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
       {},
       "F.poisson_nll_loss",
       "log_input=log_input, full=full, size_average=size_average, eps=eps, reduce=reduce, "
       "reduction=reduction"},
      {"GaussianNLLLoss",
       "*, full=False, eps=1e-6, reduction='mean'",
       {},
       "F.gaussian_nll_loss",
       "full=full, eps=eps, reduction=reduction"},
      {"HingeEmbeddingLoss",
       "margin=1.0, size_average=None, reduce=None, reduction='mean'",
       {},
       "F.hinge_embedding_loss",
       kMarginArguments},
      {"MarginRankingLoss", kMargin, {}, "F.margin_ranking_loss", kMarginArguments},
      {"SoftMarginLoss", kPlainInit, {}, "F.soft_margin_loss", kPlainArguments},
      {"CosineEmbeddingLoss", kMargin, {}, "F.cosine_embedding_loss", kMarginArguments},
      {"TripletMarginLoss",
       "margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, "
       "reduction='mean'",
       {},
       "F.triplet_margin_loss",
       "margin=margin, p=p, eps=eps, swap=swap, size_average=size_average, reduce=reduce, "
       "reduction=reduction"},
  };
}

std::vector<ModuleRow> class_losses() {
  return {
      {"CrossEntropyLoss",
       "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
       "label_smoothing=0.0",
       {},
       "F.cross_entropy",
       "weight=weight, size_average=size_average, ignore_index=ignore_index, reduce=reduce, "
       "reduction=reduction, label_smoothing=label_smoothing"},
      {"NLLLoss",
       "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
       {},
       "F.nll_loss",
       "weight=weight, size_average=size_average, ignore_index=ignore_index, reduce=reduce, "
       "reduction=reduction"},
      {"MultiLabelSoftMarginLoss",
       "weight=None, size_average=None, reduce=None, reduction='mean'",
       {},
       "F.multilabel_soft_margin_loss",
       kWeightedArguments},
      {"MultiMarginLoss",
       "p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'",
       {},
       "F.multi_margin_loss",
       "p=p, margin=margin, weight=weight, size_average=size_average, reduce=reduce, "
       "reduction=reduction"},
      {"MultiLabelMarginLoss", kPlainInit, {}, "F.multilabel_margin_loss", kPlainArguments},
  };
}

std::vector<ModuleRow> states() {
  return {
      {"RNNCell",
       "input_size, hidden_size, bias=True, nonlinearity='tanh', device=None, dtype=None",
       cell_state("hidden_size,input_size", "hidden_size,hidden_size", "hidden_size"),
       "aten.nn.rnn_cell",
       "w_ih=weight_ih, w_hh=weight_hh, b_ih=bias_ih, b_hh=bias_hh, nonlinearity=nonlinearity"},
      {"LSTMCell", "input_size, hidden_size, bias=True, device=None, dtype=None",
       cell_state("4*hidden_size,input_size", "4*hidden_size,hidden_size", "4*hidden_size"),
       "aten.nn.lstm_cell", kCellArguments},
      {"GRUCell", "input_size, hidden_size, bias=True, device=None, dtype=None",
       cell_state("3*hidden_size,input_size", "3*hidden_size,hidden_size", "3*hidden_size"),
       "aten.nn.gru_cell", kCellArguments},
      {"EmbeddingBag",
       "num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
       "mode='mean', sparse=False, _weight=None, include_last_offset=False, padding_idx=None, "
       "device=None, dtype=None",
       {{"weight", "num_embeddings,embedding_dim"}},
       "aten.nn.embedding_bag",
       "weight=weight, max_norm=max_norm, mode=mode, include_last_offset=include_last_offset, "
       "padding_idx=padding_idx"},
  };
}

}  // namespace

const std::vector<ModuleRow>& loss_modules() {
  static const std::vector<ModuleRow> kRows = [] {
    std::vector<ModuleRow> all = distance_losses();
    for (const auto& table : {class_losses(), states()})
      all.insert(all.end(), table.begin(), table.end());
    return all;
  }();
  return kRows;
}

}  // namespace kw::frontend
