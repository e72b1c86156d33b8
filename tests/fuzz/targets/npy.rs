//! `.npy` files: any bytes at all.

use recount::package::npy::Tensor;

/// A tensor has as many values as its shape says, and is written as it was read.
pub(super) fn run(data: &[u8]) {
    let Ok(tensor) = Tensor::read(data) else { return };
    assert_eq!(tensor.values.len(), tensor.shape.iter().product::<usize>());
    let mut written = Vec::new();
    if tensor.write(&mut written).is_err() {
        assert!(tensor.shape.len() > 1000, "{:?} cannot be written", tensor.shape);
        return;
    }
    let again = Tensor::read(&written).expect("our own file");
    let bits = |tensor: &Tensor| tensor.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!((&again.shape, bits(&again)), (&tensor.shape, bits(&tensor)));
    assert!(data.ends_with(&written[written.len() - 4 * tensor.values.len()..]));
    let mut rewritten = Vec::new();
    again.write(&mut rewritten).expect("a buffer takes everything");
    assert_eq!(rewritten, written);
}

/// Tensors of no, one and several dimensions.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let shapes: [&[usize]; 4] = [&[], &[3], &[2, 2], &[0, 5]];
    let written = shapes.map(|shape| {
        let values = (0..shape.iter().product::<usize>()).map(|at| at as f32 - 0.5).collect();
        let mut bytes = Vec::new();
        Tensor { shape: shape.to_vec(), values }.write(&mut bytes).expect("a buffer takes everything");
        bytes
    });
    written.into()
}
