//! The component's heap.
//!
//! An instance lives for one call, so what counts is how it begins. The usual allocator grows the memory for its very
//! first allocation, and a host pays for that with two changes of page protection a call, which cost more than the
//! decision. This heap begins in memory that the instance has from the start, and grows only when that is used up.

use core::alloc::Layout;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

/// Enough for every ordinary decision. Untouched pages cost nothing.
const FIRST: usize = 192 << 10;
const PAGE: usize = 64 << 10;
/// What a heap needs beside the allocation that it is made for.
const SPARE: usize = 1 << 10;

static mut FIRST_HEAP: [u8; FIRST] = [0; FIRST];

#[global_allocator]
static HEAP: TalcSyncCell<FirstThenGrown, WasmBinning> =
    TalcSyncCell::new_wasm(FirstThenGrown { first_taken: false });

/// Hands out [`FIRST_HEAP`], then memory that is grown.
#[derive(Debug)]
struct FirstThenGrown {
    first_taken: bool,
}

// SAFETY: nothing here allocates or touches the allocator but through the reference it is given.
unsafe impl Source for FirstThenGrown {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let (base, size) = if talc.source.first_taken {
            let needed = layout
                .size()
                .checked_add(layout.align())
                .and_then(|size| size.checked_add(SPARE))
                .ok_or(())?;
            let pages = needed.div_ceil(PAGE);
            let end = core::arch::wasm32::memory_grow::<0>(pages);
            if end == usize::MAX {
                return Err(());
            }
            ((end * PAGE) as *mut u8, pages * PAGE)
        } else {
            talc.source.first_taken = true;
            ((&raw mut FIRST_HEAP).cast::<u8>(), FIRST)
        };
        // SAFETY: the memory is used by nothing else: the static is named nowhere but above, and what was grown is new.
        unsafe { talc.claim(base, size) }.map(|_| ()).ok_or(())
    }
}
