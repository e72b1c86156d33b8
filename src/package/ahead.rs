//! Reading by a thread of its own, some buffers ahead of the thread that works on the bytes.

use std::io::{self, BufRead, Read};
use std::sync::mpsc;

/// Bytes handed over at a time, and how many buffers of them there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffers {
    /// Large enough that waking each other takes no part of the time.
    pub(crate) bytes: usize,
    /// One more than the reading thread may be ahead.
    pub(crate) count: usize,
}

/// Does `work` on the bytes of `source`, which another thread reads, to its end also where the work ends before. Gives
/// what the work came to, and the source, or the error that ended it: to the work that looked like the end.
pub(crate) fn read_ahead<S: Read + Send, T>(
    mut source: S,
    buffers: Buffers,
    work: impl FnOnce(&mut Ahead) -> T,
) -> (T, io::Result<S>) {
    let (full, to_work_on) = mpsc::sync_channel::<Vec<u8>>(buffers.count);
    let (empty, to_fill) = mpsc::channel::<Vec<u8>>();
    // The receiver lives until the end of the thread below.
    (0..buffers.count).for_each(|_| drop(empty.send(vec![0; buffers.bytes])));
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            loop {
                // Work that has ended gives nothing back, and takes nothing.
                let mut buffer = to_fill.recv().unwrap_or_default();
                buffer.resize(buffers.bytes, 0);
                let count = read_some(&mut source, &mut buffer)?;
                buffer.truncate(count);
                let _ = full.send(buffer);
                if count == 0 {
                    return Ok(source);
                }
            }
        });
        let mut ahead = Ahead { to_work_on, empty, buffer: Vec::new(), at: 0 };
        let result = work(&mut ahead);
        drop(ahead);
        (result, reading.join().unwrap_or_else(|_| Err(io::Error::other("the reading thread failed"))))
    })
}

/// What the other thread reads.
pub(crate) struct Ahead {
    to_work_on: mpsc::Receiver<Vec<u8>>,
    empty: mpsc::Sender<Vec<u8>>,
    buffer: Vec<u8>,
    at: usize,
}

impl BufRead for Ahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            let next = self.to_work_on.recv().unwrap_or_default();
            let _ = self.empty.send(std::mem::replace(&mut self.buffer, next));
            self.at = 0;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at = self.buffer.len().min(self.at + count);
    }
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.consume(count);
        Ok(count)
    }
}

/// One read that an interruption does not end.
fn read_some(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
