//! The functions of LLVM's C API, as llvm-sys declares them. `cargo test -p cuda-llvm` compares the list with llvm-sys, and
//! `CUDA_LLVM_WRITE=1` makes it rewrite this file.

/// Calls a macro with the names of all functions.
macro_rules! functions {
    ($with:ident) => {
        $with! {
            LLVMABIAlignmentOfType LLVMABISizeOfType LLVMAddAlias2 LLVMAddAnalysisPasses LLVMAddAttributeAtIndex
            LLVMAddCallSiteAttribute LLVMAddCase LLVMAddClause LLVMAddDestination LLVMAddFunction LLVMAddGlobal LLVMAddGlobalIFunc
            LLVMAddGlobalInAddressSpace LLVMAddGlobalMapping LLVMAddHandler LLVMAddIncoming LLVMAddMetadataToInst LLVMAddModule
            LLVMAddModuleFlag LLVMAddNamedMetadataOperand LLVMAddSymbol LLVMAddTargetDependentFunctionAttr
            LLVMAddTargetLibraryInfo LLVMAliasGetAliasee LLVMAliasSetAliasee LLVMAlignOf LLVMAppendBasicBlock
            LLVMAppendBasicBlockInContext LLVMAppendExistingBasicBlock LLVMAppendModuleInlineAsm LLVMArrayType LLVMArrayType2
            LLVMBFloatType LLVMBFloatTypeInContext LLVMBasicBlockAsValue LLVMBinaryCopyMemoryBuffer LLVMBinaryGetType
            LLVMBlockAddress LLVMBuildAShr LLVMBuildAdd LLVMBuildAddrSpaceCast LLVMBuildAggregateRet LLVMBuildAlloca LLVMBuildAnd
            LLVMBuildArrayAlloca LLVMBuildArrayMalloc LLVMBuildAtomicCmpXchg LLVMBuildAtomicCmpXchgSyncScope LLVMBuildAtomicRMW
            LLVMBuildAtomicRMWSyncScope LLVMBuildBinOp LLVMBuildBitCast LLVMBuildBr LLVMBuildCall2 LLVMBuildCallBr
            LLVMBuildCallWithOperandBundles LLVMBuildCast LLVMBuildCatchPad LLVMBuildCatchRet LLVMBuildCatchSwitch
            LLVMBuildCleanupPad LLVMBuildCleanupRet LLVMBuildCondBr LLVMBuildExactSDiv LLVMBuildExactUDiv LLVMBuildExtractElement
            LLVMBuildExtractValue LLVMBuildFAdd LLVMBuildFCmp LLVMBuildFDiv LLVMBuildFMul LLVMBuildFNeg LLVMBuildFPCast
            LLVMBuildFPExt LLVMBuildFPToSI LLVMBuildFPToUI LLVMBuildFPTrunc LLVMBuildFRem LLVMBuildFSub LLVMBuildFence
            LLVMBuildFenceSyncScope LLVMBuildFree LLVMBuildFreeze LLVMBuildGEP2 LLVMBuildGEPWithNoWrapFlags LLVMBuildGlobalString
            LLVMBuildGlobalStringPtr LLVMBuildICmp LLVMBuildInBoundsGEP2 LLVMBuildIndirectBr LLVMBuildInsertElement
            LLVMBuildInsertValue LLVMBuildIntCast LLVMBuildIntCast2 LLVMBuildIntToPtr LLVMBuildInvoke2
            LLVMBuildInvokeWithOperandBundles LLVMBuildIsNotNull LLVMBuildIsNull LLVMBuildLShr LLVMBuildLandingPad LLVMBuildLoad2
            LLVMBuildMalloc LLVMBuildMemCpy LLVMBuildMemMove LLVMBuildMemSet LLVMBuildMul LLVMBuildNSWAdd LLVMBuildNSWMul
            LLVMBuildNSWNeg LLVMBuildNSWSub LLVMBuildNUWAdd LLVMBuildNUWMul LLVMBuildNUWNeg LLVMBuildNUWSub LLVMBuildNeg
            LLVMBuildNot LLVMBuildOr LLVMBuildPhi LLVMBuildPointerCast LLVMBuildPtrDiff2 LLVMBuildPtrToInt LLVMBuildResume
            LLVMBuildRet LLVMBuildRetVoid LLVMBuildSDiv LLVMBuildSExt LLVMBuildSExtOrBitCast LLVMBuildSIToFP LLVMBuildSRem
            LLVMBuildSelect LLVMBuildShl LLVMBuildShuffleVector LLVMBuildStore LLVMBuildStructGEP2 LLVMBuildSub LLVMBuildSwitch
            LLVMBuildTrunc LLVMBuildTruncOrBitCast LLVMBuildUDiv LLVMBuildUIToFP LLVMBuildURem LLVMBuildUnreachable LLVMBuildVAArg
            LLVMBuildXor LLVMBuildZExt LLVMBuildZExtOrBitCast LLVMBuilderGetDefaultFPMathTag LLVMBuilderSetDefaultFPMathTag
            LLVMByteOrder LLVMCallFrameAlignmentOfType LLVMCanValueUseFastMathFlags LLVMCantFail LLVMClearInsertionPosition
            LLVMCloneModule LLVMConstAdd LLVMConstAddrSpaceCast LLVMConstAllOnes LLVMConstArray LLVMConstArray2 LLVMConstBitCast
            LLVMConstDataArray LLVMConstExtractElement LLVMConstFPFromBits LLVMConstGEP2 LLVMConstGEPWithNoWrapFlags
            LLVMConstInBoundsGEP2 LLVMConstInlineAsm LLVMConstInsertElement LLVMConstInt LLVMConstIntGetSExtValue
            LLVMConstIntGetZExtValue LLVMConstIntOfArbitraryPrecision LLVMConstIntOfString LLVMConstIntOfStringAndSize
            LLVMConstIntToPtr LLVMConstMul LLVMConstNSWAdd LLVMConstNSWMul LLVMConstNSWNeg LLVMConstNSWSub LLVMConstNUWAdd
            LLVMConstNUWMul LLVMConstNUWNeg LLVMConstNUWSub LLVMConstNamedStruct LLVMConstNeg LLVMConstNot LLVMConstNull
            LLVMConstPointerCast LLVMConstPointerNull LLVMConstPtrToInt LLVMConstReal LLVMConstRealGetDouble LLVMConstRealOfString
            LLVMConstRealOfStringAndSize LLVMConstShuffleVector LLVMConstString LLVMConstStringInContext LLVMConstStringInContext2
            LLVMConstStruct LLVMConstStructInContext LLVMConstSub LLVMConstTrunc LLVMConstTruncOrBitCast LLVMConstVector
            LLVMConstXor LLVMConstantPtrAuth LLVMConsumeError LLVMContextCreate LLVMContextDispose LLVMContextGetDiagnosticContext
            LLVMContextGetDiagnosticHandler LLVMContextSetDiagnosticHandler LLVMContextSetDiscardValueNames
            LLVMContextSetYieldCallback LLVMContextShouldDiscardValueNames LLVMCopyModuleFlagsMetadata
            LLVMCopyStringRepOfTargetData LLVMCountBasicBlocks LLVMCountIncoming LLVMCountParamTypes LLVMCountParams
            LLVMCountStructElementTypes LLVMCreateBasicBlockInContext LLVMCreateBinary LLVMCreateBuilder
            LLVMCreateBuilderInContext LLVMCreateConstantRangeAttribute LLVMCreateDIBuilder LLVMCreateDIBuilderDisallowUnresolved
            LLVMCreateDisasm LLVMCreateDisasmCPU LLVMCreateDisasmCPUFeatures LLVMCreateEnumAttribute
            LLVMCreateExecutionEngineForModule LLVMCreateFunctionPassManager LLVMCreateFunctionPassManagerForModule
            LLVMCreateGDBRegistrationListener LLVMCreateGenericValueOfFloat LLVMCreateGenericValueOfInt
            LLVMCreateGenericValueOfPointer LLVMCreateIntelJITEventListener LLVMCreateInterpreterForModule
            LLVMCreateJITCompilerForModule LLVMCreateMCJITCompilerForModule LLVMCreateMemoryBufferWithContentsOfFile
            LLVMCreateMemoryBufferWithMemoryRange LLVMCreateMemoryBufferWithMemoryRangeCopy LLVMCreateMemoryBufferWithSTDIN
            LLVMCreateMessage LLVMCreateModuleProviderForExistingModule LLVMCreateOProfileJITEventListener LLVMCreateObjectFile
            LLVMCreateOperandBundle LLVMCreatePassBuilderOptions LLVMCreatePassManager LLVMCreatePerfJITEventListener
            LLVMCreateSimpleMCJITMemoryManager LLVMCreateStringAttribute LLVMCreateStringError LLVMCreateTargetData
            LLVMCreateTargetDataLayout LLVMCreateTargetMachine LLVMCreateTargetMachineOptions LLVMCreateTargetMachineWithOptions
            LLVMCreateTypeAttribute LLVMDIBuilderCreateArrayType LLVMDIBuilderCreateArtificialType LLVMDIBuilderCreateAutoVariable
            LLVMDIBuilderCreateBasicType LLVMDIBuilderCreateBitFieldMemberType LLVMDIBuilderCreateClassType
            LLVMDIBuilderCreateCompileUnit LLVMDIBuilderCreateConstantValueExpression LLVMDIBuilderCreateDebugLocation
            LLVMDIBuilderCreateDynamicArrayType LLVMDIBuilderCreateEnumerationType LLVMDIBuilderCreateEnumerator
            LLVMDIBuilderCreateEnumeratorOfArbitraryPrecision LLVMDIBuilderCreateExpression LLVMDIBuilderCreateFile
            LLVMDIBuilderCreateFileWithChecksum LLVMDIBuilderCreateForwardDecl LLVMDIBuilderCreateFunction
            LLVMDIBuilderCreateGlobalVariableExpression LLVMDIBuilderCreateImportedDeclaration
            LLVMDIBuilderCreateImportedModuleFromAlias LLVMDIBuilderCreateImportedModuleFromModule
            LLVMDIBuilderCreateImportedModuleFromNamespace LLVMDIBuilderCreateInheritance LLVMDIBuilderCreateLabel
            LLVMDIBuilderCreateLexicalBlock LLVMDIBuilderCreateLexicalBlockFile LLVMDIBuilderCreateMacro
            LLVMDIBuilderCreateMemberPointerType LLVMDIBuilderCreateMemberType LLVMDIBuilderCreateModule
            LLVMDIBuilderCreateNameSpace LLVMDIBuilderCreateNullPtrType LLVMDIBuilderCreateObjCIVar
            LLVMDIBuilderCreateObjCProperty LLVMDIBuilderCreateObjectPointerType LLVMDIBuilderCreateParameterVariable
            LLVMDIBuilderCreatePointerType LLVMDIBuilderCreateQualifiedType LLVMDIBuilderCreateReferenceType
            LLVMDIBuilderCreateReplaceableCompositeType LLVMDIBuilderCreateSetType LLVMDIBuilderCreateStaticMemberType
            LLVMDIBuilderCreateStructType LLVMDIBuilderCreateSubrangeType LLVMDIBuilderCreateSubroutineType
            LLVMDIBuilderCreateTempGlobalVariableFwdDecl LLVMDIBuilderCreateTempMacroFile LLVMDIBuilderCreateTypedef
            LLVMDIBuilderCreateUnionType LLVMDIBuilderCreateUnspecifiedType LLVMDIBuilderCreateVectorType LLVMDIBuilderFinalize
            LLVMDIBuilderFinalizeSubprogram LLVMDIBuilderGetOrCreateArray LLVMDIBuilderGetOrCreateSubrange
            LLVMDIBuilderGetOrCreateTypeArray LLVMDIBuilderInsertDbgValueRecordAtEnd LLVMDIBuilderInsertDbgValueRecordBefore
            LLVMDIBuilderInsertDeclareRecordAtEnd LLVMDIBuilderInsertDeclareRecordBefore LLVMDIBuilderInsertLabelAtEnd
            LLVMDIBuilderInsertLabelBefore LLVMDIFileGetDirectory LLVMDIFileGetFilename LLVMDIFileGetSource
            LLVMDIGlobalVariableExpressionGetExpression LLVMDIGlobalVariableExpressionGetVariable LLVMDILocationGetColumn
            LLVMDILocationGetInlinedAt LLVMDILocationGetLine LLVMDILocationGetScope LLVMDIScopeGetFile LLVMDISubprogramGetLine
            LLVMDITypeGetAlignInBits LLVMDITypeGetFlags LLVMDITypeGetLine LLVMDITypeGetName LLVMDITypeGetOffsetInBits
            LLVMDITypeGetSizeInBits LLVMDIVariableGetFile LLVMDIVariableGetLine LLVMDIVariableGetScope LLVMDbgRecordGetDebugLoc
            LLVMDbgRecordGetKind LLVMDbgVariableRecordGetExpression LLVMDbgVariableRecordGetValue LLVMDbgVariableRecordGetVariable
            LLVMDebugMetadataVersion LLVMDeleteBasicBlock LLVMDeleteFunction LLVMDeleteGlobal LLVMDeleteInstruction
            LLVMDisasmDispose LLVMDisasmInstruction LLVMDisposeBinary LLVMDisposeBuilder LLVMDisposeDIBuilder
            LLVMDisposeErrorMessage LLVMDisposeExecutionEngine LLVMDisposeGenericValue LLVMDisposeMCJITMemoryManager
            LLVMDisposeMemoryBuffer LLVMDisposeMessage LLVMDisposeModule LLVMDisposeModuleFlagsMetadata LLVMDisposeModuleProvider
            LLVMDisposeObjectFile LLVMDisposeOperandBundle LLVMDisposePassBuilderOptions LLVMDisposePassManager
            LLVMDisposeRelocationIterator LLVMDisposeSectionIterator LLVMDisposeSymbolIterator LLVMDisposeTargetData
            LLVMDisposeTargetMachine LLVMDisposeTargetMachineOptions LLVMDisposeTemporaryMDNode LLVMDisposeValueMetadataEntries
            LLVMDoubleType LLVMDoubleTypeInContext LLVMDumpModule LLVMDumpType LLVMDumpValue LLVMElementAtOffset
            LLVMEnablePrettyStackTrace LLVMEraseGlobalIFunc LLVMExecutionEngineGetErrMsg LLVMFP128Type LLVMFP128TypeInContext
            LLVMFinalizeFunctionPassManager LLVMFindFunction LLVMFloatType LLVMFloatTypeInContext LLVMFreeMachineCodeForFunction
            LLVMFunctionType LLVMGEPGetNoWrapFlags LLVMGEPSetNoWrapFlags LLVMGenericValueIntWidth LLVMGenericValueToFloat
            LLVMGenericValueToInt LLVMGenericValueToPointer LLVMGetAggregateElement LLVMGetAlignment LLVMGetAllocatedType
            LLVMGetArgOperand LLVMGetArrayLength LLVMGetArrayLength2 LLVMGetAsString LLVMGetAtomicRMWBinOp
            LLVMGetAtomicSyncScopeID LLVMGetAttributeCountAtIndex LLVMGetAttributesAtIndex LLVMGetBasicBlockName
            LLVMGetBasicBlockParent LLVMGetBasicBlockTerminator LLVMGetBasicBlocks LLVMGetBitcodeModule LLVMGetBitcodeModule2
            LLVMGetBitcodeModuleInContext LLVMGetBitcodeModuleInContext2 LLVMGetBlockAddressBasicBlock LLVMGetBlockAddressFunction
            LLVMGetBufferSize LLVMGetBufferStart LLVMGetBuilderContext LLVMGetCallBrDefaultDest LLVMGetCallBrIndirectDest
            LLVMGetCallBrNumIndirectDests LLVMGetCallSiteAttributeCount LLVMGetCallSiteAttributes LLVMGetCallSiteEnumAttribute
            LLVMGetCallSiteStringAttribute LLVMGetCalledFunctionType LLVMGetCalledValue LLVMGetCastOpcode LLVMGetClause
            LLVMGetCmpXchgFailureOrdering LLVMGetCmpXchgSuccessOrdering LLVMGetComdat LLVMGetComdatSelectionKind LLVMGetCondition
            LLVMGetConstOpcode LLVMGetConstantPtrAuthAddrDiscriminator LLVMGetConstantPtrAuthDiscriminator
            LLVMGetConstantPtrAuthKey LLVMGetConstantPtrAuthPointer LLVMGetCurrentDebugLocation LLVMGetCurrentDebugLocation2
            LLVMGetDINodeTag LLVMGetDLLStorageClass LLVMGetDataLayout LLVMGetDataLayoutStr LLVMGetDebugLocColumn
            LLVMGetDebugLocDirectory LLVMGetDebugLocFilename LLVMGetDebugLocLine LLVMGetDefaultTargetTriple
            LLVMGetDiagInfoDescription LLVMGetDiagInfoSeverity LLVMGetElementAsConstant LLVMGetElementType LLVMGetEntryBasicBlock
            LLVMGetEnumAttributeAtIndex LLVMGetEnumAttributeKind LLVMGetEnumAttributeKindForName LLVMGetEnumAttributeValue
            LLVMGetErrorMessage LLVMGetErrorTypeId LLVMGetExact LLVMGetExecutionEngineTargetData
            LLVMGetExecutionEngineTargetMachine LLVMGetFCmpPredicate LLVMGetFastMathFlags LLVMGetFirstBasicBlock
            LLVMGetFirstDbgRecord LLVMGetFirstFunction LLVMGetFirstGlobal LLVMGetFirstGlobalAlias LLVMGetFirstGlobalIFunc
            LLVMGetFirstInstruction LLVMGetFirstNamedMetadata LLVMGetFirstParam LLVMGetFirstTarget LLVMGetFirstUse
            LLVMGetFunctionAddress LLVMGetFunctionCallConv LLVMGetGC LLVMGetGEPSourceElementType LLVMGetGlobalContext
            LLVMGetGlobalIFuncResolver LLVMGetGlobalParent LLVMGetGlobalValueAddress LLVMGetHandlers LLVMGetHostCPUFeatures
            LLVMGetHostCPUName LLVMGetICmpPredicate LLVMGetICmpSameSign LLVMGetIncomingBlock LLVMGetIncomingValue LLVMGetIndices
            LLVMGetInitializer LLVMGetInlineAsm LLVMGetInlineAsmAsmString LLVMGetInlineAsmCanUnwind
            LLVMGetInlineAsmConstraintString LLVMGetInlineAsmDialect LLVMGetInlineAsmFunctionType LLVMGetInlineAsmHasSideEffects
            LLVMGetInlineAsmNeedsAlignedStack LLVMGetInsertBlock LLVMGetInstructionCallConv LLVMGetInstructionOpcode
            LLVMGetInstructionParent LLVMGetIntTypeWidth LLVMGetIntrinsicDeclaration LLVMGetIntrinsicID LLVMGetIsDisjoint
            LLVMGetLastBasicBlock LLVMGetLastDbgRecord LLVMGetLastEnumAttributeKind LLVMGetLastFunction LLVMGetLastGlobal
            LLVMGetLastGlobalAlias LLVMGetLastGlobalIFunc LLVMGetLastInstruction LLVMGetLastNamedMetadata LLVMGetLastParam
            LLVMGetLinkage LLVMGetMDKindID LLVMGetMDKindIDInContext LLVMGetMDNodeNumOperands LLVMGetMDNodeOperands LLVMGetMDString
            LLVMGetMaskValue LLVMGetMetadata LLVMGetMetadataKind LLVMGetModuleContext LLVMGetModuleDataLayout
            LLVMGetModuleDebugMetadataVersion LLVMGetModuleFlag LLVMGetModuleIdentifier LLVMGetModuleInlineAsm LLVMGetNNeg
            LLVMGetNSW LLVMGetNUW LLVMGetNamedFunction LLVMGetNamedFunctionWithLength LLVMGetNamedGlobal LLVMGetNamedGlobalAlias
            LLVMGetNamedGlobalIFunc LLVMGetNamedGlobalWithLength LLVMGetNamedMetadata LLVMGetNamedMetadataName
            LLVMGetNamedMetadataNumOperands LLVMGetNamedMetadataOperands LLVMGetNextBasicBlock LLVMGetNextDbgRecord
            LLVMGetNextFunction LLVMGetNextGlobal LLVMGetNextGlobalAlias LLVMGetNextGlobalIFunc LLVMGetNextInstruction
            LLVMGetNextNamedMetadata LLVMGetNextParam LLVMGetNextTarget LLVMGetNextUse LLVMGetNormalDest LLVMGetNumArgOperands
            LLVMGetNumClauses LLVMGetNumContainedTypes LLVMGetNumHandlers LLVMGetNumIndices LLVMGetNumMaskElements
            LLVMGetNumOperandBundleArgs LLVMGetNumOperandBundles LLVMGetNumOperands LLVMGetNumSuccessors LLVMGetOperand
            LLVMGetOperandBundleArgAtIndex LLVMGetOperandBundleAtIndex LLVMGetOperandBundleTag LLVMGetOperandUse
            LLVMGetOrInsertComdat LLVMGetOrInsertFunction LLVMGetOrInsertNamedMetadata LLVMGetOrdering LLVMGetParam
            LLVMGetParamParent LLVMGetParamTypes LLVMGetParams LLVMGetParentCatchSwitch LLVMGetPersonalityFn
            LLVMGetPointerAddressSpace LLVMGetPointerToGlobal LLVMGetPoison LLVMGetPrefixData LLVMGetPreviousBasicBlock
            LLVMGetPreviousDbgRecord LLVMGetPreviousFunction LLVMGetPreviousGlobal LLVMGetPreviousGlobalAlias
            LLVMGetPreviousGlobalIFunc LLVMGetPreviousInstruction LLVMGetPreviousNamedMetadata LLVMGetPreviousParam
            LLVMGetPrologueData LLVMGetRawDataValues LLVMGetRelocationOffset LLVMGetRelocationSymbol LLVMGetRelocationType
            LLVMGetRelocationTypeName LLVMGetRelocationValueString LLVMGetRelocations LLVMGetReturnType LLVMGetSection
            LLVMGetSectionAddress LLVMGetSectionContainsSymbol LLVMGetSectionContents LLVMGetSectionName LLVMGetSectionSize
            LLVMGetSections LLVMGetSourceFileName LLVMGetStringAttributeAtIndex LLVMGetStringAttributeKind
            LLVMGetStringAttributeValue LLVMGetStringErrorTypeId LLVMGetStructElementTypes LLVMGetStructName LLVMGetSubprogram
            LLVMGetSubtypes LLVMGetSuccessor LLVMGetSwitchCaseValue LLVMGetSwitchDefaultDest LLVMGetSymbolAddress
            LLVMGetSymbolName LLVMGetSymbolSize LLVMGetSymbols LLVMGetSyncScopeID LLVMGetTailCallKind LLVMGetTarget
            LLVMGetTargetDescription LLVMGetTargetExtTypeIntParam LLVMGetTargetExtTypeName LLVMGetTargetExtTypeNumIntParams
            LLVMGetTargetExtTypeNumTypeParams LLVMGetTargetExtTypeTypeParam LLVMGetTargetFromName LLVMGetTargetFromTriple
            LLVMGetTargetMachineCPU LLVMGetTargetMachineFeatureString LLVMGetTargetMachineTarget LLVMGetTargetMachineTriple
            LLVMGetTargetName LLVMGetThreadLocalMode LLVMGetTypeAttributeValue LLVMGetTypeByName LLVMGetTypeByName2
            LLVMGetTypeContext LLVMGetTypeKind LLVMGetUndef LLVMGetUndefMaskElem LLVMGetUnnamedAddress LLVMGetUnwindDest
            LLVMGetUsedValue LLVMGetUser LLVMGetValueContext LLVMGetValueKind LLVMGetValueName LLVMGetValueName2 LLVMGetVectorSize
            LLVMGetVersion LLVMGetVisibility LLVMGetVolatile LLVMGetWeak LLVMGlobalAddDebugInfo LLVMGlobalAddMetadata
            LLVMGlobalClearMetadata LLVMGlobalCopyAllMetadata LLVMGlobalEraseMetadata LLVMGlobalGetValueType LLVMGlobalSetMetadata
            LLVMHalfType LLVMHalfTypeInContext LLVMHasMetadata LLVMHasPersonalityFn LLVMHasPrefixData LLVMHasPrologueData
            LLVMHasUnnamedAddr LLVMInitializeAArch64AsmParser LLVMInitializeAArch64AsmPrinter LLVMInitializeAArch64Disassembler
            LLVMInitializeAArch64Target LLVMInitializeAArch64TargetInfo LLVMInitializeAArch64TargetMC
            LLVMInitializeAMDGPUAsmParser LLVMInitializeAMDGPUAsmPrinter LLVMInitializeAMDGPUTarget LLVMInitializeAMDGPUTargetInfo
            LLVMInitializeAMDGPUTargetMC LLVMInitializeARMAsmParser LLVMInitializeARMAsmPrinter LLVMInitializeARMDisassembler
            LLVMInitializeARMTarget LLVMInitializeARMTargetInfo LLVMInitializeARMTargetMC LLVMInitializeBPFAsmParser
            LLVMInitializeBPFAsmPrinter LLVMInitializeBPFDisassembler LLVMInitializeBPFTarget LLVMInitializeBPFTargetInfo
            LLVMInitializeBPFTargetMC LLVMInitializeFunctionPassManager LLVMInitializeHexagonAsmPrinter
            LLVMInitializeHexagonDisassembler LLVMInitializeHexagonTarget LLVMInitializeHexagonTargetInfo
            LLVMInitializeHexagonTargetMC LLVMInitializeLanaiAsmParser LLVMInitializeLanaiAsmPrinter
            LLVMInitializeLanaiDisassembler LLVMInitializeLanaiTarget LLVMInitializeLanaiTargetInfo LLVMInitializeLanaiTargetMC
            LLVMInitializeLoongArchAsmParser LLVMInitializeLoongArchAsmPrinter LLVMInitializeLoongArchDisassembler
            LLVMInitializeLoongArchTarget LLVMInitializeLoongArchTargetInfo LLVMInitializeLoongArchTargetMC
            LLVMInitializeMCJITCompilerOptions LLVMInitializeMSP430AsmPrinter LLVMInitializeMSP430Target
            LLVMInitializeMSP430TargetInfo LLVMInitializeMSP430TargetMC LLVMInitializeMipsAsmParser LLVMInitializeMipsAsmPrinter
            LLVMInitializeMipsDisassembler LLVMInitializeMipsTarget LLVMInitializeMipsTargetInfo LLVMInitializeMipsTargetMC
            LLVMInitializeNVPTXAsmPrinter LLVMInitializeNVPTXTarget LLVMInitializeNVPTXTargetInfo LLVMInitializeNVPTXTargetMC
            LLVMInitializePowerPCAsmParser LLVMInitializePowerPCAsmPrinter LLVMInitializePowerPCDisassembler
            LLVMInitializePowerPCTarget LLVMInitializePowerPCTargetInfo LLVMInitializePowerPCTargetMC LLVMInitializeRISCVAsmParser
            LLVMInitializeRISCVAsmPrinter LLVMInitializeRISCVDisassembler LLVMInitializeRISCVTarget LLVMInitializeRISCVTargetInfo
            LLVMInitializeRISCVTargetMC LLVMInitializeSparcAsmParser LLVMInitializeSparcAsmPrinter LLVMInitializeSparcDisassembler
            LLVMInitializeSparcTarget LLVMInitializeSparcTargetInfo LLVMInitializeSparcTargetMC LLVMInitializeSystemZAsmParser
            LLVMInitializeSystemZAsmPrinter LLVMInitializeSystemZDisassembler LLVMInitializeSystemZTarget
            LLVMInitializeSystemZTargetInfo LLVMInitializeSystemZTargetMC LLVMInitializeWebAssemblyAsmParser
            LLVMInitializeWebAssemblyAsmPrinter LLVMInitializeWebAssemblyDisassembler LLVMInitializeWebAssemblyTarget
            LLVMInitializeWebAssemblyTargetInfo LLVMInitializeWebAssemblyTargetMC LLVMInitializeX86AsmParser
            LLVMInitializeX86AsmPrinter LLVMInitializeX86Disassembler LLVMInitializeX86Target LLVMInitializeX86TargetInfo
            LLVMInitializeX86TargetMC LLVMInitializeXCoreAsmPrinter LLVMInitializeXCoreDisassembler LLVMInitializeXCoreTarget
            LLVMInitializeXCoreTargetInfo LLVMInitializeXCoreTargetMC LLVMInsertBasicBlock LLVMInsertBasicBlockInContext
            LLVMInsertExistingBasicBlockAfterInsertBlock LLVMInsertIntoBuilder LLVMInsertIntoBuilderWithName
            LLVMInstallFatalErrorHandler LLVMInstructionClone LLVMInstructionEraseFromParent
            LLVMInstructionGetAllMetadataOtherThanDebugLoc LLVMInstructionGetDebugLoc LLVMInstructionRemoveFromParent
            LLVMInstructionSetDebugLoc LLVMInt128Type LLVMInt128TypeInContext LLVMInt16Type LLVMInt16TypeInContext LLVMInt1Type
            LLVMInt1TypeInContext LLVMInt32Type LLVMInt32TypeInContext LLVMInt64Type LLVMInt64TypeInContext LLVMInt8Type
            LLVMInt8TypeInContext LLVMIntPtrType LLVMIntPtrTypeForAS LLVMIntPtrTypeForASInContext LLVMIntPtrTypeInContext
            LLVMIntType LLVMIntTypeInContext LLVMIntrinsicCopyOverloadedName LLVMIntrinsicCopyOverloadedName2 LLVMIntrinsicGetName
            LLVMIntrinsicGetType LLVMIntrinsicIsOverloaded LLVMIsAAddrSpaceCastInst LLVMIsAAllocaInst LLVMIsAArgument
            LLVMIsAAtomicCmpXchgInst LLVMIsAAtomicRMWInst LLVMIsABasicBlock LLVMIsABinaryOperator LLVMIsABitCastInst
            LLVMIsABlockAddress LLVMIsABranchInst LLVMIsACallBrInst LLVMIsACallInst LLVMIsACastInst LLVMIsACatchPadInst
            LLVMIsACatchReturnInst LLVMIsACatchSwitchInst LLVMIsACleanupPadInst LLVMIsACleanupReturnInst LLVMIsACmpInst
            LLVMIsAConstant LLVMIsAConstantAggregateZero LLVMIsAConstantArray LLVMIsAConstantDataArray
            LLVMIsAConstantDataSequential LLVMIsAConstantDataVector LLVMIsAConstantExpr LLVMIsAConstantFP LLVMIsAConstantInt
            LLVMIsAConstantPointerNull LLVMIsAConstantPtrAuth LLVMIsAConstantStruct LLVMIsAConstantTokenNone LLVMIsAConstantVector
            LLVMIsADbgDeclareInst LLVMIsADbgInfoIntrinsic LLVMIsADbgLabelInst LLVMIsADbgVariableIntrinsic
            LLVMIsAExtractElementInst LLVMIsAExtractValueInst LLVMIsAFCmpInst LLVMIsAFPExtInst LLVMIsAFPToSIInst LLVMIsAFPToUIInst
            LLVMIsAFPTruncInst LLVMIsAFenceInst LLVMIsAFreezeInst LLVMIsAFuncletPadInst LLVMIsAFunction LLVMIsAGetElementPtrInst
            LLVMIsAGlobalAlias LLVMIsAGlobalIFunc LLVMIsAGlobalObject LLVMIsAGlobalValue LLVMIsAGlobalVariable LLVMIsAICmpInst
            LLVMIsAIndirectBrInst LLVMIsAInlineAsm LLVMIsAInsertElementInst LLVMIsAInsertValueInst LLVMIsAInstruction
            LLVMIsAIntToPtrInst LLVMIsAIntrinsicInst LLVMIsAInvokeInst LLVMIsALandingPadInst LLVMIsALoadInst LLVMIsAMDNode
            LLVMIsAMDString LLVMIsAMemCpyInst LLVMIsAMemIntrinsic LLVMIsAMemMoveInst LLVMIsAMemSetInst LLVMIsAPHINode
            LLVMIsAPoisonValue LLVMIsAPtrToIntInst LLVMIsAResumeInst LLVMIsAReturnInst LLVMIsASExtInst LLVMIsASIToFPInst
            LLVMIsASelectInst LLVMIsAShuffleVectorInst LLVMIsAStoreInst LLVMIsASwitchInst LLVMIsATerminatorInst LLVMIsATruncInst
            LLVMIsAUIToFPInst LLVMIsAUnaryInstruction LLVMIsAUnaryOperator LLVMIsAUndefValue LLVMIsAUnreachableInst LLVMIsAUser
            LLVMIsAVAArgInst LLVMIsAValueAsMetadata LLVMIsAZExtInst LLVMIsAtomic LLVMIsAtomicSingleThread LLVMIsCleanup
            LLVMIsConditional LLVMIsConstant LLVMIsConstantString LLVMIsDeclaration LLVMIsEnumAttribute
            LLVMIsExternallyInitialized LLVMIsFunctionVarArg LLVMIsGlobalConstant LLVMIsInBounds LLVMIsLiteralStruct
            LLVMIsMultithreaded LLVMIsNewDbgInfoFormat LLVMIsNull LLVMIsOpaqueStruct LLVMIsPackedStruct LLVMIsPoison
            LLVMIsRelocationIteratorAtEnd LLVMIsSectionIteratorAtEnd LLVMIsStringAttribute LLVMIsSymbolIteratorAtEnd
            LLVMIsTailCall LLVMIsThreadLocal LLVMIsTypeAttribute LLVMIsUndef LLVMLabelType LLVMLabelTypeInContext
            LLVMLinkInInterpreter LLVMLinkInMCJIT LLVMLinkModules2 LLVMLoadLibraryPermanently LLVMLookupIntrinsicID LLVMMDNode
            LLVMMDNodeInContext LLVMMDNodeInContext2 LLVMMDString LLVMMDStringInContext LLVMMDStringInContext2
            LLVMMachOUniversalBinaryCopyObjectForArch LLVMMetadataAsValue LLVMMetadataReplaceAllUsesWith LLVMMetadataTypeInContext
            LLVMModuleCreateWithName LLVMModuleCreateWithNameInContext LLVMModuleFlagEntriesGetFlagBehavior
            LLVMModuleFlagEntriesGetKey LLVMModuleFlagEntriesGetMetadata LLVMMoveBasicBlockAfter LLVMMoveBasicBlockBefore
            LLVMMoveToContainingSection LLVMMoveToNextRelocation LLVMMoveToNextSection LLVMMoveToNextSymbol
            LLVMNormalizeTargetTriple LLVMObjectFileCopySectionIterator LLVMObjectFileCopySymbolIterator
            LLVMObjectFileIsSectionIteratorAtEnd LLVMObjectFileIsSymbolIteratorAtEnd LLVMOffsetOfElement LLVMOrcAbsoluteSymbols
            LLVMOrcCreateCustomCAPIDefinitionGenerator LLVMOrcCreateCustomMaterializationUnit LLVMOrcCreateDumpObjects
            LLVMOrcCreateDynamicLibrarySearchGeneratorForPath LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess
            LLVMOrcCreateLLJIT LLVMOrcCreateLLJITBuilder LLVMOrcCreateLocalIndirectStubsManager
            LLVMOrcCreateLocalLazyCallThroughManager LLVMOrcCreateNewThreadSafeContext
            LLVMOrcCreateNewThreadSafeContextFromLLVMContext LLVMOrcCreateNewThreadSafeModule
            LLVMOrcCreateObjectLinkingLayerWithInProcessMemoryManager
            LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks
            LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager
            LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManagerReserveAlloc
            LLVMOrcCreateStaticLibrarySearchGeneratorForPath LLVMOrcDisposeCSymbolFlagsMap LLVMOrcDisposeDefinitionGenerator
            LLVMOrcDisposeDumpObjects LLVMOrcDisposeIndirectStubsManager LLVMOrcDisposeJITTargetMachineBuilder LLVMOrcDisposeLLJIT
            LLVMOrcDisposeLLJITBuilder LLVMOrcDisposeLazyCallThroughManager LLVMOrcDisposeMaterializationResponsibility
            LLVMOrcDisposeMaterializationUnit LLVMOrcDisposeObjectLayer LLVMOrcDisposeSymbols LLVMOrcDisposeThreadSafeContext
            LLVMOrcDisposeThreadSafeModule LLVMOrcDumpObjects_CallOperator LLVMOrcExecutionSessionCreateBareJITDylib
            LLVMOrcExecutionSessionCreateJITDylib LLVMOrcExecutionSessionGetJITDylibByName
            LLVMOrcExecutionSessionGetSymbolStringPool LLVMOrcExecutionSessionIntern LLVMOrcExecutionSessionLookup
            LLVMOrcExecutionSessionSetErrorReporter LLVMOrcIRTransformLayerEmit LLVMOrcIRTransformLayerSetTransform
            LLVMOrcJITDylibAddGenerator LLVMOrcJITDylibClear LLVMOrcJITDylibCreateResourceTracker LLVMOrcJITDylibDefine
            LLVMOrcJITDylibGetDefaultResourceTracker LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine
            LLVMOrcJITTargetMachineBuilderDetectHost LLVMOrcJITTargetMachineBuilderGetTargetTriple
            LLVMOrcJITTargetMachineBuilderSetTargetTriple LLVMOrcLLJITAddLLVMIRModule LLVMOrcLLJITAddLLVMIRModuleWithRT
            LLVMOrcLLJITAddObjectFile LLVMOrcLLJITAddObjectFileWithRT LLVMOrcLLJITBuilderSetJITTargetMachineBuilder
            LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator LLVMOrcLLJITEnableDebugSupport LLVMOrcLLJITGetDataLayoutStr
            LLVMOrcLLJITGetExecutionSession LLVMOrcLLJITGetGlobalPrefix LLVMOrcLLJITGetIRTransformLayer
            LLVMOrcLLJITGetMainJITDylib LLVMOrcLLJITGetObjLinkingLayer LLVMOrcLLJITGetObjTransformLayer
            LLVMOrcLLJITGetTripleString LLVMOrcLLJITLookup LLVMOrcLLJITMangleAndIntern LLVMOrcLazyReexports
            LLVMOrcLookupStateContinueLookup LLVMOrcMaterializationResponsibilityDefineMaterializing
            LLVMOrcMaterializationResponsibilityDelegate LLVMOrcMaterializationResponsibilityFailMaterialization
            LLVMOrcMaterializationResponsibilityGetExecutionSession LLVMOrcMaterializationResponsibilityGetInitializerSymbol
            LLVMOrcMaterializationResponsibilityGetRequestedSymbols LLVMOrcMaterializationResponsibilityGetSymbols
            LLVMOrcMaterializationResponsibilityGetTargetDylib LLVMOrcMaterializationResponsibilityNotifyEmitted
            LLVMOrcMaterializationResponsibilityNotifyResolved LLVMOrcMaterializationResponsibilityReplace
            LLVMOrcObjectLayerAddObjectFile LLVMOrcObjectLayerAddObjectFileWithRT LLVMOrcObjectLayerEmit
            LLVMOrcObjectTransformLayerSetTransform LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener
            LLVMOrcReleaseResourceTracker LLVMOrcReleaseSymbolStringPoolEntry LLVMOrcResourceTrackerRemove
            LLVMOrcResourceTrackerTransferTo LLVMOrcRetainSymbolStringPoolEntry LLVMOrcSymbolStringPoolClearDeadEntries
            LLVMOrcSymbolStringPoolEntryStr LLVMOrcThreadSafeModuleWithModuleDo LLVMPPCFP128Type LLVMPPCFP128TypeInContext
            LLVMParseBitcode LLVMParseBitcode2 LLVMParseBitcodeInContext LLVMParseBitcodeInContext2 LLVMParseCommandLineOptions
            LLVMParseIRInContext LLVMParseIRInContext2 LLVMPassBuilderOptionsSetAAPipeline
            LLVMPassBuilderOptionsSetCallGraphProfile LLVMPassBuilderOptionsSetDebugLogging
            LLVMPassBuilderOptionsSetForgetAllSCEVInLoopUnroll LLVMPassBuilderOptionsSetInlinerThreshold
            LLVMPassBuilderOptionsSetLicmMssaNoAccForPromotionCap LLVMPassBuilderOptionsSetLicmMssaOptCap
            LLVMPassBuilderOptionsSetLoopInterleaving LLVMPassBuilderOptionsSetLoopUnrolling
            LLVMPassBuilderOptionsSetLoopVectorization LLVMPassBuilderOptionsSetMergeFunctions
            LLVMPassBuilderOptionsSetSLPVectorization LLVMPassBuilderOptionsSetVerifyEach LLVMPointerSize LLVMPointerSizeForAS
            LLVMPointerType LLVMPointerTypeInContext LLVMPointerTypeIsOpaque LLVMPositionBuilder LLVMPositionBuilderAtEnd
            LLVMPositionBuilderBefore LLVMPositionBuilderBeforeDbgRecords LLVMPositionBuilderBeforeInstrAndDbgRecords
            LLVMPreferredAlignmentOfGlobal LLVMPreferredAlignmentOfType LLVMPrintDbgRecordToString LLVMPrintModuleToFile
            LLVMPrintModuleToString LLVMPrintTypeToString LLVMPrintValueToString LLVMRecompileAndRelinkFunction
            LLVMRemarkArgGetDebugLoc LLVMRemarkArgGetKey LLVMRemarkArgGetValue LLVMRemarkDebugLocGetSourceColumn
            LLVMRemarkDebugLocGetSourceFilePath LLVMRemarkDebugLocGetSourceLine LLVMRemarkEntryDispose LLVMRemarkEntryGetDebugLoc
            LLVMRemarkEntryGetFirstArg LLVMRemarkEntryGetFunctionName LLVMRemarkEntryGetHotness LLVMRemarkEntryGetNextArg
            LLVMRemarkEntryGetNumArgs LLVMRemarkEntryGetPassName LLVMRemarkEntryGetRemarkName LLVMRemarkEntryGetType
            LLVMRemarkParserCreateBitstream LLVMRemarkParserCreateYAML LLVMRemarkParserDispose LLVMRemarkParserGetErrorMessage
            LLVMRemarkParserGetNext LLVMRemarkParserHasError LLVMRemarkStringGetData LLVMRemarkStringGetLen LLVMRemarkVersion
            LLVMRemoveBasicBlockFromParent LLVMRemoveCallSiteEnumAttribute LLVMRemoveCallSiteStringAttribute
            LLVMRemoveEnumAttributeAtIndex LLVMRemoveGlobalIFunc LLVMRemoveModule LLVMRemoveStringAttributeAtIndex
            LLVMReplaceAllUsesWith LLVMReplaceArrays LLVMReplaceMDNodeOperandWith LLVMResetFatalErrorHandler LLVMRunFunction
            LLVMRunFunctionAsMain LLVMRunFunctionPassManager LLVMRunPassManager LLVMRunPasses LLVMRunPassesOnFunction
            LLVMRunStaticConstructors LLVMRunStaticDestructors LLVMScalableVectorType LLVMSearchForAddressOfSymbol
            LLVMSetAlignment LLVMSetArgOperand LLVMSetAtomicRMWBinOp LLVMSetAtomicSingleThread LLVMSetAtomicSyncScopeID
            LLVMSetCleanup LLVMSetCmpXchgFailureOrdering LLVMSetCmpXchgSuccessOrdering LLVMSetComdat LLVMSetComdatSelectionKind
            LLVMSetCondition LLVMSetCurrentDebugLocation LLVMSetCurrentDebugLocation2 LLVMSetDLLStorageClass LLVMSetDataLayout
            LLVMSetDisasmOptions LLVMSetExact LLVMSetExternallyInitialized LLVMSetFastMathFlags LLVMSetFunctionCallConv LLVMSetGC
            LLVMSetGlobalConstant LLVMSetGlobalIFuncResolver LLVMSetICmpSameSign LLVMSetInitializer LLVMSetInstDebugLocation
            LLVMSetInstrParamAlignment LLVMSetInstructionCallConv LLVMSetIsDisjoint LLVMSetIsInBounds LLVMSetIsNewDbgInfoFormat
            LLVMSetLinkage LLVMSetMetadata LLVMSetModuleDataLayout LLVMSetModuleIdentifier LLVMSetModuleInlineAsm
            LLVMSetModuleInlineAsm2 LLVMSetNNeg LLVMSetNSW LLVMSetNUW LLVMSetNormalDest LLVMSetOperand LLVMSetOrdering
            LLVMSetParamAlignment LLVMSetParentCatchSwitch LLVMSetPersonalityFn LLVMSetPrefixData LLVMSetPrologueData
            LLVMSetSection LLVMSetSourceFileName LLVMSetSubprogram LLVMSetSuccessor LLVMSetSwitchCaseValue LLVMSetTailCall
            LLVMSetTailCallKind LLVMSetTarget LLVMSetTargetMachineAsmVerbosity LLVMSetTargetMachineFastISel
            LLVMSetTargetMachineGlobalISel LLVMSetTargetMachineGlobalISelAbort LLVMSetTargetMachineMachineOutliner
            LLVMSetThreadLocal LLVMSetThreadLocalMode LLVMSetUnnamedAddr LLVMSetUnnamedAddress LLVMSetUnwindDest LLVMSetValueName
            LLVMSetValueName2 LLVMSetVisibility LLVMSetVolatile LLVMSetWeak LLVMShutdown LLVMSizeOf LLVMSizeOfTypeInBits
            LLVMStartMultithreaded LLVMStopMultithreaded LLVMStoreSizeOfType LLVMStripModuleDebugInfo LLVMStructCreateNamed
            LLVMStructGetTypeAtIndex LLVMStructSetBody LLVMStructType LLVMStructTypeInContext LLVMTargetExtTypeInContext
            LLVMTargetHasAsmBackend LLVMTargetHasJIT LLVMTargetHasTargetMachine LLVMTargetMachineEmitToFile
            LLVMTargetMachineEmitToMemoryBuffer LLVMTargetMachineOptionsSetABI LLVMTargetMachineOptionsSetCPU
            LLVMTargetMachineOptionsSetCodeGenOptLevel LLVMTargetMachineOptionsSetCodeModel LLVMTargetMachineOptionsSetFeatures
            LLVMTargetMachineOptionsSetRelocMode LLVMTemporaryMDNode LLVMTokenTypeInContext LLVMTypeIsSized LLVMTypeOf
            LLVMValueAsBasicBlock LLVMValueAsMetadata LLVMValueIsBasicBlock LLVMValueMetadataEntriesGetKind
            LLVMValueMetadataEntriesGetMetadata LLVMVectorType LLVMVerifyFunction LLVMVerifyModule LLVMViewFunctionCFG
            LLVMViewFunctionCFGOnly LLVMVoidType LLVMVoidTypeInContext LLVMWriteBitcodeToFD LLVMWriteBitcodeToFile
            LLVMWriteBitcodeToFileHandle LLVMWriteBitcodeToMemoryBuffer LLVMX86AMXType LLVMX86AMXTypeInContext LLVMX86FP80Type
            LLVMX86FP80TypeInContext
        }
    };
}

pub(crate) use functions;
