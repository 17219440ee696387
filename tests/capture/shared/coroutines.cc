/* SPDX-License-Identifier: MIT */
/*
 * coroutines.cc - coroutines of C++20 that await each other
 *
 * coroutines ROUNDS: a tree of generators, and tasks that await tasks and fail
 * with exceptions.  Each resumes on the stack of whoever resumes it.
 */
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

/* Runs when it is awaited, then goes on with who awaits it. */
struct task {
	struct promise_type {
		std::coroutine_handle<> waiter = std::noop_coroutine();
		std::exception_ptr error;
		std::string value;

		task get_return_object()
		{
			return task(std::coroutine_handle<
				    promise_type>::from_promise(*this));
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		auto final_suspend() noexcept
		{
			struct leave {
				bool await_ready() noexcept
				{
					return false;
				}
				std::coroutine_handle<> await_suspend(
					std::coroutine_handle<promise_type>
						h) noexcept
				{
					return h.promise().waiter;
				}
				void await_resume() noexcept
				{
				}
			};
			return leave{};
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
		void return_value(std::string s)
		{
			value = std::move(s);
		}
	};

	explicit task(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
	task(task &&other) noexcept : handle(std::exchange(other.handle, {}))
	{
	}
	~task()
	{
		if (handle)
			handle.destroy();
	}
	bool await_ready()
	{
		return false;
	}
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter)
	{
		handle.promise().waiter = waiter;
		return handle;
	}
	std::string await_resume()
	{
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return std::move(handle.promise().value);
	}

	std::coroutine_handle<promise_type> handle;
};

static task
descend(int depth, bool fails)
{
	const std::string own(40 + depth, 'x');

	if (depth == 0) {
		if (fails)
			throw std::runtime_error(std::string(60, 'e'));
		co_return own;
	}
	const std::string inner = co_await descend(depth - 1, fails);

	co_return own + inner.substr(0, 20);
}

static task
attempt(int depth)
{
	std::string caught;

	try {
		caught = co_await descend(depth, depth % 2 != 0);
	} catch (const std::exception &e) {
		caught = e.what();
	}
	co_return caught + std::string(50, 'y');
}

struct numbers {
	struct promise_type {
		std::string value;

		numbers get_return_object()
		{
			return { std::coroutine_handle<
				promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(std::string s)
		{
			value = std::move(s);
			return {};
		}
		void unhandled_exception()
		{
			std::terminate();
		}
		void return_void()
		{
		}
	};

	std::coroutine_handle<promise_type> handle;
};

/* Resumes generators that resume generators. */
static numbers
count(int depth)
{
	numbers inner = { nullptr };

	if (depth > 0)
		inner = count(depth - 1);
	for (int i = 0; i < 3; i++) {
		std::string s(30 + i, 'n');

		if (inner.handle && !inner.handle.done()) {
			inner.handle.resume();
			s += inner.handle.promise().value;
		}
		co_yield s;
	}
	if (inner.handle)
		inner.handle.destroy();
}

static void
work(int rounds)
{
	std::map<std::string, int> seen;

	for (int i = 0; i < rounds; i++) {
		task t = attempt(i % 40);
		numbers n = count(i % 30);

		t.handle.resume();
		seen[t.await_resume()]++;
		for (n.handle.resume(); !n.handle.done(); n.handle.resume())
			seen[n.handle.promise().value.substr(0, 40)]++;
		n.handle.destroy();
	}
}

int
main(int, char **argv)
{
	const int rounds = std::atoi(argv[1]);
	std::thread other(work, rounds);

	work(rounds);
	other.join();
	return 0;
}
