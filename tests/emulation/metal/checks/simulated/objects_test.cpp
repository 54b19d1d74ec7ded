// The Objective-C runtime: messages, reference counts, autorelease pools, and the faults of their users.
#include <atomic>
#include <thread>

#include "machine.h"

namespace {

class MetalObjects : public Machine {};

TEST_F(MetalObjects, MessageToNilIsZero) {
  EXPECT_EQ(send<Id>(nullptr, "newCommandQueue"), nullptr);
  EXPECT_EQ(send<double>(nullptr, "GPUStartTime"), 0.0);
  EXPECT_EQ(send<Number>(nullptr, "length"), 0U);
  const auto range = send<Range>(nullptr, "range");
  EXPECT_EQ(range.location, 0U);
  EXPECT_EQ(range.length, 0U);
}

TEST_F(MetalObjects, SelectorsAreInterned) {
  const std::string name = "newCommandQueue";
  EXPECT_EQ(sel_registerName("newCommandQueue"), sel_registerName(name.c_str()));
  EXPECT_NE(sel_registerName("newCommandQueue"), name.c_str());
}

TEST_F(MetalObjects, SelectorThatIsNotRegisteredIsAFault) {
  const std::string name = "name";
  EXPECT_EQ((reinterpret_cast<Id (*)(Id, const char*)>(&objc_msgSend)(device, name.c_str())), nullptr);
  expect_fault("the selector name is not one of sel_registerName");
}

TEST_F(MetalObjects, ClassesAreFoundByName) {
  for (const char* name : {"NSObject", "NSString", "NSArray", "NSURL", "NSError", "NSAutoreleasePool", "NSProcessInfo",
                           "MTLCompileOptions", "MTLComputePipelineDescriptor", "MTLBinaryArchiveDescriptor"})
    EXPECT_NE(objc_getClass(name), nullptr) << name;
  // Those that implement a protocol have no name that a program may rely on.
  EXPECT_EQ(objc_getClass("MTLDevice"), nullptr);
  EXPECT_EQ(objc_getClass("MTLBuffer"), nullptr);
  EXPECT_EQ(objc_getClass("Class"), nullptr);
}

TEST_F(MetalObjects, CountsOfReferences) {
  const Id object = made("NSObject");
  EXPECT_EQ(send<Number>(object, "retainCount"), 1U);
  EXPECT_EQ(send<Id>(object, "retain"), object);
  EXPECT_EQ(objc_retain(object), object);
  EXPECT_EQ(send<Number>(object, "retainCount"), 3U);
  EXPECT_STREQ(simulated_metal_live_objects(), "MTLCommandQueue 1\nNSObject 1\nMTLDevice 2\n");
  objc_release(object);
  release(object);
  release(object);
  EXPECT_STREQ(simulated_metal_live_objects(), "MTLCommandQueue 1\nMTLDevice 2\n");
}

TEST_F(MetalObjects, MessageToFreedObjectIsAFault) {
  const Id object = made("MTLCompileOptions");
  release(object);
  EXPECT_FALSE(send<bool>(object, "fastMathEnabled"));
  expect_fault("-[MTLCompileOptions fastMathEnabled]: message sent to freed instance");
  // Another object does not take its place.
  const Id other = made("MTLCompileOptions");
  EXPECT_NE(other, object);
  release(other);
}

TEST_F(MetalObjects, OverReleaseIsAFault) {
  const Id object = made("NSObject");
  release(object);
  release(object);
  expect_fault("-[NSObject release]: message sent to freed instance");
  objc_release(object);
  expect_fault("over-release: the NSObject at ");
}

TEST_F(MetalObjects, OverReleaseIsFoundWhenThePoolEnds) {
  void* const inner = objc_autoreleasePoolPush();
  const Id text = string("text");
  release(text);
  EXPECT_EQ(faults(), "");
  objc_autoreleasePoolPop(inner);
  expect_fault("over-release: the NSString at ");
}

TEST_F(MetalObjects, UnknownSelectorIsAFault) {
  EXPECT_EQ(send<Id>(device, "newTeapot"), nullptr);
  expect_fault("-[MTLDevice newTeapot]: unrecognized selector sent to instance <MTLDevice: ");
  EXPECT_EQ(send<Id>(objc_getClass("NSString"), "UTF8String"), nullptr);
  expect_fault("+[NSString UTF8String]: unrecognized selector sent to class");
  EXPECT_EQ(send<Id>(device, "new"), nullptr);
  expect_fault("-[MTLDevice new]: unrecognized selector");
}

TEST_F(MetalObjects, PointerThatIsNoObjectIsAFault) {
  std::array<std::byte, 64> bytes{};
  EXPECT_EQ(send<Id>(bytes.data(), "name"), nullptr);
  expect_fault("message name is sent to <no object: ");
  objc_retain(bytes.data());
  expect_fault("retain: there is no object at ");
}

TEST_F(MetalObjects, RespondsToItsSelectorsAlone) {
  EXPECT_TRUE(send<bool>(device, "respondsToSelector:", sel_registerName("newCommandQueue")));
  EXPECT_TRUE(send<bool>(device, "respondsToSelector:", sel_registerName("retain")));
  EXPECT_FALSE(send<bool>(device, "respondsToSelector:", sel_registerName("newTexture")));
  EXPECT_TRUE(send<bool>(objc_getClass("NSString"), "respondsToSelector:", sel_registerName("alloc")));
  EXPECT_FALSE(send<bool>(objc_getClass("NSString"), "respondsToSelector:", sel_registerName("UTF8String")));
}

TEST_F(MetalObjects, PoolReleasesWhatWasAutoreleasedInIt) {
  const Id object = made("NSObject");
  send<Id>(object, "retain");
  void* const outer = objc_autoreleasePoolPush();
  send<Id>(object, "autorelease");
  void* const inner = objc_autoreleasePoolPush();
  const Id text = string("in the inner pool");
  EXPECT_EQ(send<Number>(text, "retainCount"), 1U);
  objc_autoreleasePoolPop(inner);
  EXPECT_EQ(send<Number>(text, "length"), 0U);
  expect_fault("-[NSString length]: message sent to freed instance");
  EXPECT_EQ(send<Number>(object, "retainCount"), 2U);
  objc_autoreleasePoolPop(outer);
  EXPECT_EQ(send<Number>(object, "retainCount"), 1U);
  release(object);
}

TEST_F(MetalObjects, OuterPoolEndsInnerPools) {
  void* const outer = objc_autoreleasePoolPush();
  void* const inner = objc_autoreleasePoolPush();
  string("text");
  objc_autoreleasePoolPop(outer);
  EXPECT_STREQ(simulated_metal_live_objects(), "MTLCommandQueue 1\nMTLDevice 2\n");
  objc_autoreleasePoolPop(inner);
  expect_fault("an autorelease pool is popped that is not open on this thread");
}

TEST_F(MetalObjects, AutoreleaseWithoutAPoolIsAFault) {
  Id text = nullptr;
  std::thread([&] { text = string("text"); }).join();
  expect_fault("is autoreleased on a thread without an autorelease pool: it leaks");
  release(text);
}

TEST_F(MetalObjects, ThreadThatEndsWithAnOpenPoolIsAFault) {
  std::thread([] { objc_autoreleasePoolPush(); }).join();
  expect_fault("a thread ends with 1 open autorelease pools");
}

TEST_F(MetalObjects, PoolsAreObjectsToo) {
  const Id own = send<Id>(send<Id>(objc_getClass("NSAutoreleasePool"), "alloc"), "init");
  const Id text = string("text");
  send<void>(own, "drain");
  EXPECT_EQ(send<Number>(text, "retainCount"), 0U);
  expect_fault("message sent to freed instance");
}

TEST_F(MetalObjects, ThreadsRetainAndReleaseAtOnce) {
  const Id object = made("NSObject");
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([object] {
      void* const own = objc_autoreleasePoolPush();
      for (int i = 0; i < 1000; ++i) {
        send<Id>(object, "retain");
        if (i % 2 == 0)
          release(object);
        else
          send<Id>(object, "autorelease");
        release(made("NSObject"));
      }
      objc_autoreleasePoolPop(own);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(send<Number>(object, "retainCount"), 1U);
  release(object);
}

TEST_F(MetalObjects, StringsArraysAndUrls) {
  const Id text = string("h\xc3\xa4 \xf0\x9f\x99\x82");
  EXPECT_EQ(text_of(text), "h\xc3\xa4 \xf0\x9f\x99\x82");
  EXPECT_EQ(send<Number>(text, "length"), 5U);  // of UTF-16
  const Id array = send<Id>(objc_getClass("NSArray"), "arrayWithObject:", text);
  EXPECT_EQ(send<Number>(array, "count"), 1U);
  EXPECT_EQ(send<Id>(array, "objectAtIndex:", Number{0}), text);
  EXPECT_EQ(send<Id>(array, "objectAtIndex:", Number{1}), nullptr);
  expect_fault("index 1 beyond bounds");
  const Id url = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string("/tmp/file"));
  EXPECT_STREQ(send<const char*>(url, "fileSystemRepresentation"), "/tmp/file");
  EXPECT_NE(text_of(send<Id>(url, "description")).find("<NSURL: 0x"), std::string::npos);
}

TEST_F(MetalObjects, TextThatIsNotUtf8IsNoString) {
  for (const char* good : {"", "\xc2\x80", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"}) EXPECT_NE(string(good), nullptr);
  for (const char* bad : {"\x80", "a\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82(", "\xff"})
    EXPECT_EQ(string(bad), nullptr) << bad;
  EXPECT_EQ(string(nullptr), nullptr);
  expect_fault("NULL cString");
}

TEST_F(MetalObjects, ObjectOfAnotherClassIsAFault) {
  EXPECT_EQ(send<Id>(device, "newLibraryWithSource:options:error:", device, Id{nullptr}, static_cast<Id*>(nullptr)),
            nullptr);
  expect_fault("newLibraryWithSource:options:error:: a NSString is needed, not <MTLDevice: ");
}

TEST_F(MetalObjects, StructuresComeBackByValue) {
  Size size{};
  reinterpret_cast<void (*)(Size*, Id, const char*)> (&objc_msgSend_stret)(
      &size, device, sel_registerName("maxThreadsPerThreadgroup"));
  EXPECT_EQ(size.width, 1024U);
  EXPECT_EQ(size.depth, 1024U);
}

TEST(MetalObjectsDeathTest, FaultEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(objc_release(&testing::FLAGS_gtest_death_test_style), testing::KilledBySignal(SIGABRT),
              "simulated Metal: over-release: there is no object at ");
}

TEST(MetalObjectsDeathTest, LeaksAreReportedAtTheEnd) {
  // The library reads the variable when it is loaded, so the process must begin with it.
  ::setenv("FERRULE_EMULATION_METAL_LEAKS", "1", 1);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        made("NSObject");
        made("NSObject");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "simulated Metal: objects that were not released:\nNSObject 2\n");
  ::unsetenv("FERRULE_EMULATION_METAL_LEAKS");
}

}  // namespace
