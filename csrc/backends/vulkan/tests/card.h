// A simulated card that copies and computes in parallel in two queues: a layer over the software driver that delays
// each submission, so that missing synchronisation becomes visible.
#pragma once

#include "device_fixture.h"

#include <filesystem>
#include <fstream>
#include <optional>

#include <unistd.h>

namespace ferrule::test {

// Variables with which a software driver is a card: drivers/card_layer.c. They are read when a device is opened.
class CardVariables {
 public:
  // Delays each submission by this many milliseconds.
  CardVariables(int computing_ms, int copying_ms)
      : delays_("VULKAN_CARD_DELAYS", std::to_string(computing_ms) + " " + std::to_string(copying_ms)) {}
  // No submission of that queue family (0 computes, 1 copies) is done before `let_go`.
  explicit CardVariables(int held_family) : CardVariables(0, 0) {
    file_ = std::filesystem::temp_directory_path() / ("ferrule-card-" + std::to_string(::getpid()));
    const std::ofstream made{file_};
    held_.emplace("VULKAN_CARD_HELD", std::to_string(held_family) + " " + file_.string());
  }
  ~CardVariables() { let_go(); }
  CardVariables(const CardVariables&) = delete;
  CardVariables& operator=(const CardVariables&) = delete;
  void let_go() {
    if (!file_.empty()) std::filesystem::remove(file_);
  }

 private:
  Variable path_{"VK_LAYER_PATH", "/usr/share/vulkan/explicit_layer.d:" FERRULE_VULKAN_CARD};
  Variable layers_{"VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation:VK_LAYER_FERRULE_card"};
  Variable delays_;
  std::filesystem::path file_;
  std::optional<Variable> held_;
};

// The members are public for the tests.
class VulkanCard : public VulkanContext {
 protected:
  void SetUp() override {}
  void TearDown() override {
    let_go();
    if (instance) close();
  }
  void open_plain() {
    card_.reset();
    VulkanContext::SetUp();
  }
  // Delays each submission by this many milliseconds.
  void open_card(int computing, int copying) { open(computing, copying); }
  // No submission of that queue family (0 computes, 1 copies) is done before `let_go`.
  void open_held_card(int family) { open(family); }
  void let_go() {
    if (card_) card_->let_go();
  }
  // The layer reports objects that were not destroyed.
  void close() { VulkanContext::TearDown(); }

  void upload(vulkan::Queue& queue, const vulkan::Allocation& to, uint32_t word) {
    const std::vector<uint32_t> words(to.size / sizeof word, word);
    queue.copy_from_host(to, 0, words.data(), to.size);
  }
  uint32_t last_word(vulkan::Queue& queue, const vulkan::Allocation& from) {
    uint32_t word = 0;
    queue.copy_to_host(&word, from, from.size - sizeof word, sizeof word);
    return word;
  }

 private:
  void open(auto... arguments) {
    card_.reset();  // restores the variables before they are set anew
    card_.emplace(arguments...);
    VulkanContext::SetUp();
    ASSERT_EQ(context->queue_families(), (std::vector<uint32_t>{0, 1}));
    ASSERT_EQ(context->queue(vulkan::Engine::downloading).index, 1u);
  }
  std::optional<CardVariables> card_;
};

}  // namespace ferrule::test
