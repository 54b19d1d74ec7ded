// A simulated card with a computing queue and a copying one: a layer over the software driver. It delays each piece of
// work, so that work that should wait for it, and does not, runs too early.
#pragma once

#include "device_fixture.h"

#include <optional>

namespace ferrule::test {

// Tests open the device that they need.
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
  // Delays, in milliseconds, of each piece of work.
  void open_card(int computing, int copying) {
    path_.emplace("VK_LAYER_PATH", "/usr/share/vulkan/explicit_layer.d:" FERRULE_VULKAN_CARD);
    layers_.emplace("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation:VK_LAYER_FERRULE_card");
    delays_.emplace("VULKAN_CARD_DELAYS", std::to_string(computing) + " " + std::to_string(copying));
    VulkanContext::SetUp();
    ASSERT_EQ(context->queue_families(), (std::vector<uint32_t>{0, 1}));
    ASSERT_EQ(context->queue(vulkan::Engine::downloading).index, 1u);
  }
  // Closes the device, so that the layer reports objects that are not destroyed.
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
