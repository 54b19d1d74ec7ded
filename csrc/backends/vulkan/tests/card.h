// A simulated card that copies and computes in parallel in two queues: a layer over the software driver that delays
// each submission, so that missing synchronisation becomes visible.
#pragma once

#include "device_fixture.h"

#include <optional>

namespace ferrule::test {

// The members are public for the tests.
class VulkanCard : public VulkanContext {
 protected:
  void SetUp() override {}
  void TearDown() override {
    if (instance) close();
  }
  void open_plain() {
    path_.reset(), layers_.reset(), delays_.reset();
    VulkanContext::SetUp();
  }
  // Delays each submission by this many milliseconds.
  void open_card(int computing, int copying) {
    path_.emplace("VK_LAYER_PATH", "/usr/share/vulkan/explicit_layer.d:" FERRULE_VULKAN_CARD);
    layers_.emplace("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation:VK_LAYER_FERRULE_card");
    delays_.emplace("VULKAN_CARD_DELAYS", std::to_string(computing) + " " + std::to_string(copying));
    VulkanContext::SetUp();
    ASSERT_EQ(context->queue_families(), (std::vector<uint32_t>{0, 1}));
    ASSERT_EQ(context->queue(vulkan::Engine::downloading).index, 1u);
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
  std::optional<Variable> path_, layers_, delays_;
};

}  // namespace ferrule::test
