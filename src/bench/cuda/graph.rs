//! Kernel nodes of a captured graph: read back, and replaced in place.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS_v2, CUgraphNode, CUgraphNodeType};
use cudarc::driver::{CudaFunction, CudaGraph};

use super::device::DeviceError;

/// A kernel node: what it launches.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelNode {
    #[cfg(test)]
    node: CUgraphNode,
    params: CUDA_KERNEL_NODE_PARAMS_v2,
}

impl KernelNode {
    /// Whether the node launches this function.
    pub(super) fn launches(&self, function: &CudaFunction) -> bool {
        self.params.func == function.cu_function()
    }

    /// Blocks along x, y and z.
    pub(super) fn grid(&self) -> [u64; 3] {
        [self.params.gridDimX, self.params.gridDimY, self.params.gridDimZ].map(u64::from)
    }

    /// Makes the node launch another function of the same arguments, in the graph and in what it was instantiated to.
    ///
    /// # Safety
    /// The function takes arguments of the same number and types, and may be launched with that grid and block.
    #[cfg(test)]
    pub(super) unsafe fn replace(
        &self,
        graph: &CudaGraph,
        function: &CudaFunction,
        grid: u32,
        threads: u32,
    ) -> Result<(), DeviceError> {
        let mut params = self.params;
        params.func = function.cu_function();
        params.gridDimX = grid;
        params.blockDimX = threads;
        // SAFETY: node and graph belong together; the parameters are those that CUDA gave, whose argument words it owns as
        // long as the node is, but for the function and shape that the caller answers for.
        unsafe {
            sys::cuGraphKernelNodeSetParams_v2(self.node, &raw const params).result()?;
            sys::cuGraphExecKernelNodeSetParams_v2(graph.cu_graph_exec(), self.node, &raw const params).result()?;
        }
        Ok(())
    }
}

/// The kernel nodes of a graph, all of them.
///
/// # Errors
/// The driver refuses, or a node is no kernel.
pub(super) fn kernel_nodes(graph: &CudaGraph) -> Result<Vec<KernelNode>, DeviceError> {
    let mut count = 0;
    // SAFETY: without an array, only the count is written.
    unsafe { sys::cuGraphGetNodes(graph.cu_graph(), std::ptr::null_mut(), &raw mut count) }.result()?;
    let mut nodes: Vec<CUgraphNode> = vec![std::ptr::null_mut(); count];
    // SAFETY: the array has room for as many nodes as are asked for.
    unsafe { sys::cuGraphGetNodes(graph.cu_graph(), nodes.as_mut_ptr(), &raw mut count) }.result()?;
    nodes.into_iter().take(count).map(read).collect()
}

fn read(node: CUgraphNode) -> Result<KernelNode, DeviceError> {
    // A driver may know more types than the enumeration does, so the type is read as the number that it is.
    let mut kind = 0_u32;
    // SAFETY: the node is one that CUDA gave; its type, a 32-bit number, is written where the call succeeds.
    unsafe { sys::cuGraphNodeGetType(node, (&raw mut kind).cast()) }.result()?;
    if kind != CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL as u32 {
        return Err(DeviceError::Graph(format!("the captured graph has a node that is no kernel, of type {kind}")));
    }
    let mut params = MaybeUninit::<CUDA_KERNEL_NODE_PARAMS_v2>::zeroed();
    // SAFETY: the node is a kernel; its parameters are written where the call succeeds.
    let params = unsafe {
        sys::cuGraphKernelNodeGetParams_v2(node, params.as_mut_ptr()).result()?;
        params.assume_init()
    };
    Ok(KernelNode {
        #[cfg(test)]
        node,
        params,
    })
}
